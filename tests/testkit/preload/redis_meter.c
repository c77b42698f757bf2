/*
 * Preloaded into redis-server: counts and delays fsyncs for
 * testkit/redis_meter.h.  Built without the sanitizers of the tests.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "testkit/redis_meter.h"

static struct tk_meter *meter;
static int (*libc_fdatasync)(int fd);
/* The end of the file at its last fsync. */
static _Atomic off_t synced;

/* ISO C has no conversion of an object pointer to a function pointer. */
static void
find(void *fn, const char *name)
{
	void *at = dlsym(RTLD_NEXT, name);

	if (at == NULL)
		abort();
	memcpy(fn, &at, sizeof(at));
}

__attribute__((constructor)) static void
load(void)
{
	const char *path = getenv(TK_METER_FILE);
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;

	find(&libc_fdatasync, "fdatasync");
	if (fd == -1)
		abort();
	meter = mmap(
	    NULL, sizeof(*meter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (meter == MAP_FAILED)
		abort();
	close(fd);
}

static void
delay(uint32_t us)
{
	struct timespec t = { us / 1000000, (long)(us % 1000000) * 1000 };

	if (us > 0)
		nanosleep(&t, NULL);
}

int
fdatasync(int fd)
{
	off_t end = lseek(fd, 0, SEEK_CUR),
	      from = atomic_exchange(&synced, end);
	uint32_t bytes = end > from ? (uint32_t)(end - from) : 0;

	atomic_fetch_add(&meter->fsyncs, 1);
	delay(atomic_load(&meter->fsync_us) +
	    bytes * atomic_load(&meter->byte_us));
	return libc_fdatasync(fd);
}
