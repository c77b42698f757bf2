/*
 * system_path: of /etc only what programs need to start, to resolve names and
 * to check certificates: what else is in it, mounted secrets included, nobody
 * has seen.  In /proc the kernel protects other processes' memory and
 * environment.
 */
#include <stddef.h>

#include "procsup/system_path.h"

const struct system_path system_paths[] = {
	{ "/usr", LANDLOCK_EXECUTE, false },
	{ "/bin", LANDLOCK_EXECUTE, false },
	{ "/sbin", LANDLOCK_EXECUTE, false },
	{ "/lib", LANDLOCK_EXECUTE, false },
	{ "/lib32", LANDLOCK_EXECUTE, false },
	{ "/lib64", LANDLOCK_EXECUTE, false },
	{ "/libx32", LANDLOCK_EXECUTE, false },
	{ "/etc/alternatives", LANDLOCK_EXECUTE, false },
	{ "/etc/bash.bashrc", LANDLOCK_READ, false },
	{ "/etc/ca-certificates", LANDLOCK_READ, false },
	{ "/etc/ca-certificates.conf", LANDLOCK_READ, false },
	{ "/etc/debian_version", LANDLOCK_READ, false },
	{ "/etc/fonts", LANDLOCK_READ, false },
	{ "/etc/gai.conf", LANDLOCK_READ, false },
	{ "/etc/group", LANDLOCK_READ, false },
	{ "/etc/host.conf", LANDLOCK_READ, false },
	{ "/etc/hostname", LANDLOCK_READ, false },
	{ "/etc/hosts", LANDLOCK_READ, false },
	{ "/etc/inputrc", LANDLOCK_READ, false },
	{ "/etc/ld.so.cache", LANDLOCK_READ, false },
	{ "/etc/ld.so.conf", LANDLOCK_READ, false },
	{ "/etc/ld.so.conf.d", LANDLOCK_READ, false },
	{ "/etc/locale.alias", LANDLOCK_READ, false },
	{ "/etc/localtime", LANDLOCK_READ, false },
	{ "/etc/magic", LANDLOCK_READ, false },
	{ "/etc/mime.types", LANDLOCK_READ, false },
	{ "/etc/nsswitch.conf", LANDLOCK_READ, false },
	{ "/etc/os-release", LANDLOCK_READ, false },
	{ "/etc/passwd", LANDLOCK_READ, false },
	{ "/etc/perl", LANDLOCK_READ, false },
	{ "/etc/profile", LANDLOCK_READ, false },
	{ "/etc/profile.d", LANDLOCK_READ, false },
	{ "/etc/protocols", LANDLOCK_READ, false },
	{ "/etc/python3", LANDLOCK_READ, false },
	{ "/etc/python3.11", LANDLOCK_READ, false },
	{ "/etc/resolv.conf", LANDLOCK_READ, false },
	{ "/etc/services", LANDLOCK_READ, false },
	{ "/etc/shells", LANDLOCK_READ, false },
	{ "/etc/ssl/certs", LANDLOCK_READ, false },
	{ "/etc/ssl/openssl.cnf", LANDLOCK_READ, false },
	{ "/etc/terminfo", LANDLOCK_READ, false },
	{ "/etc/timezone", LANDLOCK_READ, false },
	{ "/proc", LANDLOCK_READ, true },
	{ "/sys/devices/system/cpu", LANDLOCK_READ, false },
	{ "/sys/fs/cgroup", LANDLOCK_READ, false },
	{ "/dev/full", LANDLOCK_DEVICE, true },
	{ "/dev/null", LANDLOCK_DEVICE, true },
	{ "/dev/random", LANDLOCK_DEVICE, true },
	{ "/dev/urandom", LANDLOCK_DEVICE, true },
	{ "/dev/zero", LANDLOCK_DEVICE, true },
	{ NULL, LANDLOCK_READ, false },
};
