/*
 * Certificates by openssl's own command.
 */
#include "kit/kit_cert.h"

#include <stdio.h>

#include "kit/kit.h"

#define MAKE_MS 20000

static const char *
file(const char *name, const char *end)
{
	char text[128];

	snprintf(text, sizeof(text), "%s.%s", name, end);
	return kit_path(text);
}

const char *
kit_cert_pem(const char *name)
{
	return file(name, "pem");
}

const char *
kit_cert_key(const char *name)
{
	return file(name, "key");
}

static void
make(const char *const *argv)
{
	struct kit_proc p;

	kit_spawn(&p, "openssl", argv, NULL);
	ck_assert_int_eq(kit_wait(&p, MAKE_MS), 0);
}

#define REQ                                                                  \
	"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",              \
	    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", \
	    subject, "-keyout", kit_cert_key(name), "-out", kit_cert_pem(name)

void
kit_cert_authority(const char *name)
{
	char subject[128];
	const char *const argv[] = { REQ, NULL };

	snprintf(subject, sizeof(subject), "/CN=%s", name);
	make(argv);
}

void
kit_cert_issue(const char *name, const char *authority, const char *who)
{
	char subject[128], alt[160];
	const char *const argv[] = { REQ, "-addext", alt, "-addext",
		"basicConstraints=critical,CA:FALSE", "-CA",
		kit_cert_pem(authority), "-CAkey", kit_cert_key(authority),
		NULL };

	snprintf(subject, sizeof(subject), "/CN=%s", name);
	snprintf(alt, sizeof(alt), "subjectAltName=%s", who);
	make(argv);
}
