#include "testkit/certs.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "testkit/testkit.h"

#define MAKE_MS   20000
#define WORDS_MAX 24
#define LINE_MAX_ 1024

/* Run a command given as words separated by blanks; its log has the errors. */
static void
certs_run(const char *fmt, ...)
{
	const char *argv[WORDS_MAX] = { NULL };
	struct tk_proc p;
	char line[LINE_MAX_], *rest = line, *word;
	size_t n = 0;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	while ((word = strsep(&rest, " ")) != NULL && n + 1 < WORDS_MAX)
		argv[n++] = word;
	tk_spawn(&p, "openssl", argv, NULL);
	if (tk_wait(&p, MAKE_MS) != 0)
		ck_abort_msg("%s failed; see %s", fmt, p.log);
}

#define KEY "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"

static void
certs_list(const char *ca)
{
	certs_run("openssl ca -config %s/%s.cnf -gencrl -out %s/%s.crl",
	    tk_dir(), ca, tk_dir(), ca);
}

void
tk_certs_ca(const char *name)
{
	char path[256], text[1024];
	const char *d = tk_dir(), *last = strrchr(name, '/');

	certs_run("openssl req -x509 " KEY
		  " -days 2 -subj /CN=%s -keyout %s/%s.key -out %s/%s.crt",
	    last != NULL ? last + 1 : name, d, name, d, name);
	snprintf(text, sizeof(text),
	    "[ca]\ndefault_ca=d\n[d]\ndatabase=%s/%s.db\ndefault_md=sha256\n"
	    "default_crl_days=2\ncertificate=%s/%s.crt\n"
	    "private_key=%s/%s.key\n",
	    d, name, d, name, d, name);
	snprintf(path, sizeof(path), "%s.cnf", name);
	tk_write_file(tk_path(path), text);
	snprintf(path, sizeof(path), "%s.db", name);
	tk_write_file(tk_path(path), "");
	certs_list(name);
}

void
tk_certs_make(const struct tk_cert *c)
{
	char path[256], text[256];
	const char *d = tk_dir();

	snprintf(path, sizeof(path), "%s.ext", c->name);
	snprintf(text, sizeof(text), "subjectAltName=%s\n", c->alt);
	tk_write_file(tk_path(path), text);
	certs_run("openssl req " KEY
		  " -subj /CN=%s -keyout %s/%s.key -out %s/%s.csr",
	    c->cn, d, c->name, d, c->name);
	certs_run(
	    "openssl x509 -req -in %s/%s.csr -CA %s/%s.crt -CAkey %s/%s.key "
	    "-CAcreateserial -days %d -extfile %s/%s.ext -out %s/%s.crt",
	    d, c->name, d, c->ca, d, c->ca, c->days, d, c->name, d, c->name);
}

void
tk_certs_revoke(const char *ca, const char *name)
{
	certs_run("openssl ca -config %s/%s.cnf -revoke %s/%s.crt", tk_dir(),
	    ca, tk_dir(), name);
	certs_list(ca);
}
