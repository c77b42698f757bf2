/*
 * landlock: see landlock.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "procsup/landlock.h"

/* Of ABI 6; an older kernel accepts it if what it does not know is 0. */
struct landlock_ruleset {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};
struct landlock_port {
	uint64_t access;
	uint64_t port;
};

#define FS_BITS_1    ((UINT64_C(1) << 13) - 1)
#define FS_REFER     (UINT64_C(1) << 13)
#define FS_TRUNCATE  (UINT64_C(1) << 14)
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define FS_READ_FILE LANDLOCK_ACCESS_FS_READ_FILE
#define FS_READ      (FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
/* What may be allowed for a path that is no folder. */
#define FS_OF_FILES                                                   \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
	    FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
#define NET_CONNECT     (UINT64_C(1) << 1)
#define SCOPED_ABSTRACT (UINT64_C(1) << 0)
#define SCOPED_SIGNAL   (UINT64_C(1) << 1)
#define RULE_PORT       2

int
landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

static uint64_t
landlock_fs_bits(int abi)
{
	uint64_t bits = FS_BITS_1;

	if (abi >= 2)
		bits |= FS_REFER;
	if (abi >= LANDLOCK_ABI_TRUNCATE)
		bits |= FS_TRUNCATE;
	if (abi >= LANDLOCK_ABI_DEVICES)
		bits |= FS_IOCTL_DEV;
	return bits;
}

int
landlock_open(int abi, int limit_tcp)
{
	struct landlock_ruleset r = { .fs = landlock_fs_bits(abi) };

	if (abi >= LANDLOCK_ABI_TCP && limit_tcp)
		r.net = NET_CONNECT;
	if (abi >= LANDLOCK_ABI_SCOPES)
		r.scoped = SCOPED_ABSTRACT | SCOPED_SIGNAL;
	return (int)syscall(SYS_landlock_create_ruleset, &r, sizeof(r), 0);
}

enum rc
landlock_allow_path(
    int ruleset, int abi, const char *path, enum landlock_access access)
{
	static const uint64_t bits[] = {
		[LANDLOCK_READ] = FS_READ,
		[LANDLOCK_EXECUTE] = FS_READ | LANDLOCK_ACCESS_FS_EXECUTE,
		[LANDLOCK_DEVICE] = FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE |
		    FS_TRUNCATE | FS_IOCTL_DEV,
		[LANDLOCK_ALL] = ~UINT64_C(0),
	};
	struct landlock_path_beneath_attr rule = { 0 };
	struct stat st;
	enum rc rc = RC_DOWN;
	int fd = open(path, O_PATH | O_CLOEXEC), err;

	if (fd == -1)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES
		    ? RC_NOENT
		    : RC_DOWN;
	rule.parent_fd = fd;
	rule.allowed_access = bits[access] & landlock_fs_bits(abi);
	if (fstat(fd, &st) == 0) {
		if (!S_ISDIR(st.st_mode))
			rule.allowed_access &= FS_OF_FILES;
		if (syscall(SYS_landlock_add_rule, ruleset,
			LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0)
			rc = RC_OK;
	}
	err = errno;
	close(fd);
	errno = err;
	return rc;
}

enum rc
landlock_allow_tcp(int ruleset, int port)
{
	struct landlock_port rule = { NET_CONNECT, (uint64_t)port };

	return syscall(SYS_landlock_add_rule, ruleset, RULE_PORT, &rule, 0) == 0
	    ? RC_OK
	    : RC_DOWN;
}

enum rc
landlock_restrict(int ruleset)
{
	return syscall(SYS_landlock_restrict_self, ruleset, 0) == 0 ? RC_OK
								    : RC_DOWN;
}
