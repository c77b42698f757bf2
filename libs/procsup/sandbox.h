/*
 * sandbox: what an engine's process may do.
 *
 * Landlock (an allow-list of files, TCP ports, signals), rlimits and
 * no_new_privs; with bubblewrap also its own process ids and file tree.  Each
 * kernel enforces a part of it: sandbox_probe() reports which, as data.
 */
#ifndef PROCSUP_SANDBOX_H
#define PROCSUP_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct buf;

/* ENGINE_ISOLATION. */
enum sandbox_mode {
	SANDBOX_AUTO,     /* Landlock is required; bubblewrap if it works */
	SANDBOX_LANDLOCK, /* Landlock alone; required */
	SANDBOX_BWRAP,    /* both; both required */
	SANDBOX_NONE      /* rlimits and no_new_privs only */
};

/* sandbox_mode_parse(s, out): "auto", "landlock", "bwrap" or "none". */
enum rc sandbox_mode_parse(struct str s, enum sandbox_mode *out) RC_CHECK;

/* sandbox_mode_name(mode): The inverse. */
const char *sandbox_mode_name(enum sandbox_mode mode);

/* What an engine is kept from. */
enum sandbox_rule {
	SANDBOX_FILES,      /* reading, writing, executing other files */
	SANDBOX_TRUNCATE,   /* truncating other files */
	SANDBOX_DEVICES,    /* ioctls of other devices */
	SANDBOX_MEMORY,     /* memory and environment of other processes */
	SANDBOX_TCP,        /* TCP but to the allowed port */
	SANDBOX_UDP,        /* UDP, raw and other sockets */
	SANDBOX_UNIX,       /* sockets of other processes in the file system */
	SANDBOX_ABSTRACT,   /* their abstract sockets */
	SANDBOX_SIGNALS,    /* signals to other processes */
	SANDBOX_PRIVILEGES, /* more rights by executing a program */
	SANDBOX_FILE_SIZE,  /* files over the limit */
	SANDBOX_PROCESSES,  /* processes over the limit */
	SANDBOX_RULES_N
};

/* sandbox_rule_name(rule): In snake_case, for records and logs. */
const char *sandbox_rule_name(enum sandbox_rule rule);

/* What is enforced here. */
struct sandbox_report {
	enum sandbox_mode mode; /* never SANDBOX_AUTO */
	int landlock_abi;       /* of the kernel; 0: it has no Landlock */
	unsigned enforced;      /* bits 1U << enum sandbox_rule */
};

/* sandbox_enforces(r, rule): Whether that bit is set. */
bool sandbox_enforces(const struct sandbox_report *r, enum sandbox_rule rule);

/*
 * sandbox_report_write(r, out):
 * One line in words: "landlock 7; not enforced: unix_sockets, processes".
 */
void sandbox_report_write(const struct sandbox_report *r, struct buf *out);

/*
 * sandbox_probe(mode, out, why):
 * Find what is enforced for engines that this process starts.  RC_DOWN: mode
 * requires what is missing; *why is then the reason, a constant.  It may start
 * a process, and blocks for at most 5 s: for the start of a service.
 */
enum rc sandbox_probe(enum sandbox_mode mode, struct sandbox_report *out,
    const char **why) RC_CHECK;

/* Of each kind, with a NULL at the end. */
#define SANDBOX_PATHS_MAX 16

/* The sandbox of one engine.  Strings are absolute paths. */
struct sandbox_spec {
	enum sandbox_mode mode; /* of a report, never SANDBOX_AUTO */
	/* May be read and executed, beyond the system's: the engine's. */
	const char *read[SANDBOX_PATHS_MAX];
	/* All rights: the run's work, home and tmp. */
	const char *write[SANDBOX_PATHS_MAX];
	int tcp_port;        /* it may connect to; 0: none, -1: all */
	int64_t file_bytes;  /* size of a file; 0: no limit */
	int64_t cpu_s;       /* CPU seconds of a process; 0: no limit */
	int64_t processes;   /* of this user together; 0: no limit */
	int64_t descriptors; /* of a process; 0: 4096 */
};

/*
 * sandbox_enter(s, what):
 * Restrict the calling process, and whatever it starts, for ever (what bwrap
 * adds, it is in already); close its
 * descriptors from 3 up at the next exec.  For a process with one thread that
 * executes the engine next.  Missing paths are skipped.  RC_DOWN: *what could
 * not be done (a constant) and errno is why; the caller must exit.
 */
enum rc sandbox_enter(const struct sandbox_spec *s, const char **what) RC_CHECK;

#endif /* !PROCSUP_SANDBOX_H */
