#include "testkit/redis_meter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "testkit/testkit.h"

#define METER_LIBRARY "../tests/testkit/redis_meter.so"

static char meter_preload[4096], meter_file[4096];
static const char *const meter_env[] = { meter_preload, meter_file, NULL };

struct tk_meter *
tk_meter_begin(void)
{
	const char *path = tk_path("redis-meter");
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct tk_meter *m;

	ck_assert_msg(fd != -1, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(ftruncate(fd, sizeof(*m)), 0);
	m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(m, MAP_FAILED);
	close(fd);
	snprintf(meter_preload, sizeof(meter_preload), "LD_PRELOAD=%s",
	    tk_bin(METER_LIBRARY));
	snprintf(meter_file, sizeof(meter_file), TK_METER_FILE "=%s", path);
	return m;
}

const char *const *
tk_meter_env(void)
{
	return meter_file[0] != '\0' ? meter_env : NULL;
}
