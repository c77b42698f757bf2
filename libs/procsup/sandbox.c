/*
 * sandbox: see sandbox.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "procsup/bwrap.h"
#include "procsup/landlock.h"
#include "procsup/sandbox.h"
#include "procsup/socket_filter.h"
#include "procsup/system_path.h"

#define DESCRIPTORS 4096

static const char *const sandbox_modes[] = { "auto", "landlock", "bwrap",
	"none" };
static const char *const sandbox_rules[SANDBOX_RULES_N] = { "files", "truncate",
	"devices", "memory", "tcp", "udp", "unix_sockets", "abstract_sockets",
	"signals", "privileges", "file_size", "processes" };

/* ---- names ---- */

enum rc
sandbox_mode_parse(struct str s, enum sandbox_mode *out)
{
	for (size_t i = 0; i < NELEM(sandbox_modes); i++)
		if (str_eq(s, str_of(sandbox_modes[i]))) {
			*out = (enum sandbox_mode)i;
			return RC_OK;
		}
	return RC_INVALID;
}

const char *
sandbox_mode_name(enum sandbox_mode mode)
{
	return sandbox_modes[mode];
}

const char *
sandbox_rule_name(enum sandbox_rule rule)
{
	return sandbox_rules[rule];
}

bool
sandbox_enforces(const struct sandbox_report *r, enum sandbox_rule rule)
{
	return (r->enforced >> rule & 1) != 0;
}

void
sandbox_report_write(const struct sandbox_report *r, struct buf *out)
{
	const char *before = "; not enforced: ";

	buf_puts(out, sandbox_mode_name(r->mode));
	if (r->mode != SANDBOX_NONE)
		buf_printf(out, " %d", r->landlock_abi);
	for (int i = 0; i < SANDBOX_RULES_N; i++) {
		if (sandbox_enforces(r, (enum sandbox_rule)i))
			continue;
		buf_printf(out, "%s%s", before, sandbox_rules[i]);
		before = ", ";
	}
}

/* ---- what the kernel has ---- */

enum rc
sandbox_probe(
    enum sandbox_mode mode, struct sandbox_report *out, const char **why)
{
	static const struct {
		enum sandbox_rule rule;
		int abi;
	} rows[] = {
		{ SANDBOX_FILES, 1 },
		{ SANDBOX_MEMORY, 1 },
		{ SANDBOX_TRUNCATE, LANDLOCK_ABI_TRUNCATE },
		{ SANDBOX_TCP, LANDLOCK_ABI_TCP },
		{ SANDBOX_DEVICES, LANDLOCK_ABI_DEVICES },
		{ SANDBOX_ABSTRACT, LANDLOCK_ABI_SCOPES },
		{ SANDBOX_SIGNALS, LANDLOCK_ABI_SCOPES },
	};

	*why = NULL;
	*out = (struct sandbox_report){ .mode = mode,
		.landlock_abi = landlock_abi() };
	out->enforced = 1U << SANDBOX_PRIVILEGES | 1U << SANDBOX_FILE_SIZE;
	/* The kernel has no limit for root. */
	if (getuid() != 0)
		out->enforced |= 1U << SANDBOX_PROCESSES;
	if (mode == SANDBOX_NONE)
		return RC_OK;
	if (out->landlock_abi == 0) {
		*why =
		    "the kernel has no Landlock, or it is switched off (lsm=)";
		return RC_DOWN;
	}
	out->mode = SANDBOX_LANDLOCK;
	if (mode != SANDBOX_LANDLOCK && bwrap_works()) {
		out->mode = SANDBOX_BWRAP;
		out->enforced |= 1U << SANDBOX_UNIX;
	} else if (mode == SANDBOX_BWRAP) {
		*why = "bubblewrap is not installed, or may not make "
		       "namespaces here";
		return RC_DOWN;
	}
	for (size_t i = 0; i < NELEM(rows); i++)
		if (out->landlock_abi >= rows[i].abi)
			out->enforced |= 1U << rows[i].rule;
	if (socket_filter_available())
		out->enforced |= 1U << SANDBOX_UDP;
	return RC_OK;
}

/* ---- entering ---- */

static enum rc
sandbox_set_limit(int resource, int64_t value, int64_t hard)
{
	struct rlimit old, r;

	if (getrlimit((__rlimit_resource_t)resource, &old) != 0)
		return RC_DOWN;
	/* Never above what this process has itself. */
	r.rlim_max = (rlim_t)hard < old.rlim_max ? (rlim_t)hard : old.rlim_max;
	r.rlim_cur = (rlim_t)value < r.rlim_max ? (rlim_t)value : r.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &r) == 0 ? RC_OK
								 : RC_DOWN;
}

static enum rc
sandbox_set_limits(const struct sandbox_spec *s)
{
	const int64_t files = s->descriptors > 0 ? s->descriptors : DESCRIPTORS;

	if (sandbox_set_limit(RLIMIT_CORE, 0, 0) != RC_OK ||
	    sandbox_set_limit(RLIMIT_NOFILE, files, files) != RC_OK)
		return RC_DOWN;
	if (s->file_bytes > 0 &&
	    sandbox_set_limit(RLIMIT_FSIZE, s->file_bytes, s->file_bytes) !=
		RC_OK)
		return RC_DOWN;
	/* The signal at the first can be handled, at the second not. */
	if (s->cpu_s > 0 &&
	    sandbox_set_limit(RLIMIT_CPU, s->cpu_s, s->cpu_s + 5) != RC_OK)
		return RC_DOWN;
	if (s->processes > 0 &&
	    sandbox_set_limit(RLIMIT_NPROC, s->processes, s->processes) !=
		RC_OK)
		return RC_DOWN;
	return RC_OK;
}

/* Of root, too, whose programs would get them from the bounding set. */
static enum rc
sandbox_drop_capabilities(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
		0 };
	struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };

	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0;
	     cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0 && errno != EPERM)
			return RC_DOWN;
	return syscall(SYS_capset, &head, none) == 0 ? RC_OK : RC_DOWN;
}

static enum rc
sandbox_allow(int ruleset, int abi, const char *const paths[SANDBOX_PATHS_MAX],
    enum landlock_access access)
{
	for (size_t i = 0; i < SANDBOX_PATHS_MAX && paths[i] != NULL; i++)
		if (landlock_allow_path(ruleset, abi, paths[i], access) ==
		    RC_DOWN)
			return RC_DOWN;
	return RC_OK;
}

static enum rc
sandbox_fill_ruleset(const struct sandbox_spec *s, int ruleset, int abi)
{
	for (size_t i = 0; system_paths[i].path != NULL; i++)
		if (landlock_allow_path(ruleset, abi, system_paths[i].path,
			system_paths[i].access) == RC_DOWN)
			return RC_DOWN;
	if (sandbox_allow(ruleset, abi, s->read, LANDLOCK_EXECUTE) != RC_OK ||
	    sandbox_allow(ruleset, abi, s->write, LANDLOCK_ALL) != RC_OK)
		return RC_DOWN;
	if (s->tcp_port > 0 && abi >= LANDLOCK_ABI_TCP)
		return landlock_allow_tcp(ruleset, s->tcp_port);
	return RC_OK;
}

static enum rc
sandbox_restrict(const struct sandbox_spec *s, const char **what)
{
	const int abi = landlock_abi();
	int ruleset = landlock_open(abi, s->tcp_port >= 0);

	*what = "Landlock";
	if (ruleset == -1 || sandbox_fill_ruleset(s, ruleset, abi) != RC_OK ||
	    landlock_restrict(ruleset) != RC_OK)
		return RC_DOWN;
	close(ruleset);
	*what = "seccomp";
	return s->tcp_port >= 0 && socket_filter_available()
	    ? socket_filter_install()
	    : RC_OK;
}

enum rc
sandbox_enter(const struct sandbox_spec *s, const char **what)
{
	*what = "rlimits";
	if (sandbox_set_limits(s) != RC_OK)
		return RC_DOWN;
	*what = "close_range";
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
		return RC_DOWN;
	*what = "no_new_privs";
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return RC_DOWN;
	if (s->mode == SANDBOX_NONE)
		return RC_OK;
	*what = "capabilities";
	if (sandbox_drop_capabilities() != RC_OK)
		return RC_DOWN;
	return sandbox_restrict(s, what);
}
