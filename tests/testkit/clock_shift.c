/* clock_shift: see clock_shift.h. */
#include "testkit/clock_shift.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "testkit/testkit.h"

#define CLOCK_LIBRARY "../tests/testkit/clock_shift.so"

static char clock_path[4096], clock_preload[4200], clock_file[4200];
static char clock_asan[1024];
static const char *const clock_env[] = { clock_preload, clock_file, clock_asan,
	NULL };

void
tk_clock_shift(int64_t s)
{
	int fd = open(clock_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(pwrite(fd, &s, sizeof(s), 0), sizeof(s));
	close(fd);
}

const char *const *
tk_clock_env(void)
{
	const char *asan = getenv("ASAN_OPTIONS");

	snprintf(clock_path, sizeof(clock_path), "%s", tk_path("clock"));
	/* The library is no sanitizer's. */
	snprintf(clock_asan, sizeof(clock_asan),
	    "ASAN_OPTIONS=%s:verify_asan_link_order=0",
	    asan != NULL ? asan : "");
	snprintf(clock_preload, sizeof(clock_preload), "LD_PRELOAD=%s",
	    tk_bin(CLOCK_LIBRARY));
	snprintf(
	    clock_file, sizeof(clock_file), TK_CLOCK_FILE "=%s", clock_path);
	tk_clock_shift(0);
	return clock_env;
}
