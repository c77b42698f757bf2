/*
 * socket_filter: see socket_filter.h.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/mem.h"
#include "procsup/socket_filter.h"

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#else
#define FILTER_ARCH 0
#endif

/* Of x86-64's x32 calls, which have the same architecture. */
#define FILTER_X32 0x40000000U
/* SOCK_CLOEXEC and SOCK_NONBLOCK may be set beside it. */
#define FILTER_TYPE_MASK 0xfU

#define LOAD(member)                       \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
	    (unsigned)offsetof(struct seccomp_data, member))
#define IF_EQ(value, yes, no) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define FAIL(error)   RETURN(SECCOMP_RET_ERRNO | ((error)&SECCOMP_RET_DATA))

static const struct sock_filter filter_code[] = {
	LOAD(arch),
	IF_EQ(FILTER_ARCH, 1, 0),
	FAIL(ENOSYS),
	LOAD(nr),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FILTER_X32, 0, 1),
	FAIL(ENOSYS),
	IF_EQ(SYS_io_uring_setup, 0, 1),
	FAIL(ENOSYS),
	IF_EQ(SYS_socket, 1, 0),
	RETURN(SECCOMP_RET_ALLOW),
	LOAD(args[0]),
	IF_EQ(AF_UNIX, 4, 0),
	IF_EQ(AF_NETLINK, 3, 0),
	IF_EQ(AF_INET, 3, 0),
	IF_EQ(AF_INET6, 2, 0),
	FAIL(EACCES),
	RETURN(SECCOMP_RET_ALLOW),
	LOAD(args[1]),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, FILTER_TYPE_MASK),
	IF_EQ(SOCK_STREAM, 0, 1),
	RETURN(SECCOMP_RET_ALLOW),
	FAIL(EACCES),
};

bool
socket_filter_available(void)
{
	/* With a filter the kernel would read it: EFAULT of one that is not. */
	return FILTER_ARCH != 0 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) == -1 &&
	    errno == EFAULT;
}

enum rc
socket_filter_install(void)
{
	/* The kernel's type is not const. */
	struct sock_filter code[NELEM(filter_code)];
	struct sock_fprog program = { NELEM(filter_code), code };

	for (size_t i = 0; i < NELEM(filter_code); i++)
		code[i] = filter_code[i];
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0
	    ? RC_OK
	    : RC_DOWN;
}
