/*
 * Preloaded into a service: its wall clock differs from the machine's by the
 * seconds that the file TK_CLOCK_FILE has, which a test changes.  Built without
 * the sanitizers of the tests.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "testkit/clock_shift.h"

static const _Atomic(int64_t) *shift;
static int (*libc_clock_gettime)(clockid_t clock, struct timespec *t);

__attribute__((constructor)) static void
load(void)
{
	const char *path = getenv(TK_CLOCK_FILE);
	int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	/* ISO C has no conversion of an object pointer to a function's. */
	void *at = dlsym(RTLD_NEXT, "clock_gettime");
	void *map;

	memcpy(&libc_clock_gettime, &at, sizeof(at));
	if (fd == -1)
		return;
	map = mmap(NULL, sizeof(*shift), PROT_READ, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED)
		shift = map;
	close(fd);
}

int
clock_gettime(clockid_t clock, struct timespec *t)
{
	/* An allocator may need it before all constructors. */
	int rc = libc_clock_gettime != NULL
	    ? libc_clock_gettime(clock, t)
	    : (int)syscall(SYS_clock_gettime, clock, t);

	if (rc == 0 && clock == CLOCK_REALTIME && shift != NULL)
		t->tv_sec += (time_t)*shift;
	return rc;
}

/* Redis' clock. */
int
gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec now;
	int rc = clock_gettime(CLOCK_REALTIME, &now);

	(void)zone;
	*t = (struct timeval){ now.tv_sec, now.tv_nsec / 1000 };
	return rc;
}
