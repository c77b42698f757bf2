#include "testkit/cert.h"

#include <stdio.h>

#include "testkit/testkit.h"

#define MAKE_MS 20000

static const char *
cert_file(const char *name, const char *end)
{
	char text[128];

	snprintf(text, sizeof(text), "%s.%s", name, end);
	return tk_path(text);
}

const char *
tk_cert_pem(const char *name)
{
	return cert_file(name, "pem");
}

const char *
tk_cert_key(const char *name)
{
	return cert_file(name, "key");
}

static void
cert_make(const char *const *argv)
{
	struct tk_proc p;

	tk_spawn(&p, "openssl", argv, NULL);
	ck_assert_int_eq(tk_wait(&p, MAKE_MS), 0);
}

#define REQ                                                                  \
	"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",              \
	    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", \
	    subject, "-keyout", tk_cert_key(name), "-out", tk_cert_pem(name)

void
tk_cert_authority(const char *name)
{
	char subject[128];
	const char *const argv[] = { REQ, NULL };

	snprintf(subject, sizeof(subject), "/CN=%s", name);
	cert_make(argv);
}

void
tk_cert_issue(const char *name, const char *authority, const char *who)
{
	char subject[128], alt[160];
	const char *const argv[] = { REQ, "-addext", alt, "-addext",
		"basicConstraints=critical,CA:FALSE", "-CA",
		tk_cert_pem(authority), "-CAkey", tk_cert_key(authority),
		NULL };

	snprintf(subject, sizeof(subject), "/CN=%s", name);
	snprintf(alt, sizeof(alt), "subjectAltName=%s", who);
	cert_make(argv);
}
