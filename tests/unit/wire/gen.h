/* gen: running the generator on schemas of a test. */
#ifndef TESTS_WIRE_GEN_H
#define TESTS_WIRE_GEN_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/str.h"
#include "testkit/testkit.h"

#define WIREGEN "build/wiregen"

/* "<tk_dir()>/<name>"; tk_path() supports only a few. */
struct path {
	char text[512];
};

static inline struct path
below(const char *name)
{
	struct path p;
	(void)snprintf(p.text, sizeof(p.text), "%s/%s", tk_dir(), name);
	return p;
}

/* Run the generator on the schemas of folder s; returns its exit code. */
static inline int
generate(char **output)
{
	struct path in = below("s");
	struct path out = below("out");
	struct path log = below("wiregen.log");
	struct tk_proc p;
	size_t n;
	(void)mkdir(out.text, 0700);
	(void)unlink(log.text);
	const char *const argv[] = { WIREGEN, "code", in.text, out.text, NULL };
	tk_spawn(&p, "wiregen", argv, NULL);
	int rc = tk_wait(&p, 10000);
	*output = tk_read_file(log.text, &n);
	return rc;
}

static inline void
put_file(const char *name, const char *text)
{
	char path[600];
	struct path dir = below("s");
	(void)mkdir(dir.text, 0700);
	(void)snprintf(path, sizeof(path), "%s/%s", dir.text, name);
	tk_write_file(path, text);
}

/*
 * Check that it exits with 1 and prints "<folder>/<file>: <where>" and a reason
 * that contains why.
 */
static inline void
gen_rejects(
    const char *file, const char *where, const char *why, const char *of)
{
	char *output;
	char want[1024];
	int rc = generate(&output);
	(void)snprintf(want, sizeof(want), "%s/%s: %s%s", below("s").text, file,
	    where, where[0] != '\0' ? ": " : "");
	ck_assert_msg(rc == 1, "%s: exit %d: %s", of, rc, output);
	ck_assert_msg(str_starts(str_of(output), str_of(want)),
	    "%s: \"%s\" does not begin with \"%s\"", of, output, want);
	ck_assert_msg(strstr(output + strlen(want), why) != NULL,
	    "%s: \"%s\" does not say \"%s\"", of, output, why);
	free(output);
}

#endif /* !TESTS_WIRE_GEN_H */
