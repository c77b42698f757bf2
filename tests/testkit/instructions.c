/*
 * callgrind, on this program.
 */
#include "testkit/instructions.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/mem.h"
#include "testkit/testkit.h"

#define CHILD "TESTKIT_INSTRUCTIONS"

bool
instructions_child(void)
{
	return getenv(CHILD) != NULL;
}

static bool
instructions_can_count(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return false;
#else
	return access("/usr/bin/valgrind", X_OK) == 0;
#endif
}

double
instructions_count(const char *function, const char *test, int calls)
{
	char self[4096] = "", toggle[128];
	const char *const argv[] = { "valgrind", "--tool=callgrind",
		"--callgrind-out-file=/dev/null", toggle, self, test, NULL };
	const char *const env[] = { CHILD "=1", "CK_FORK=no", NULL };
	struct tk_proc p;
	const char *at;
	double n = 0;
	char *log;

	if (!instructions_can_count())
		return 0;
	ck_assert(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	(void)snprintf(toggle, sizeof(toggle), "--toggle-collect=%s", function);
	tk_spawn(&p, "callgrind", argv, env);
	ck_assert_int_eq(tk_wait(&p, 100000), 0);
	log = tk_read_file(p.log, NULL);
	at = strstr(log, "Collected : ");
	ck_assert_ptr_nonnull(at);
	n = strtod(at + strlen("Collected : "), NULL) / calls;
	free(log);
	remove(p.log);
	return n;
}
