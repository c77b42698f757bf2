#include "orphan_sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "procsup/process_table.h"
#include "procsup/sweep.h"
#include "stdio_transport.h"

/* In which a shim ends its server, and some more for a busy machine. */
#define ORPHAN_GRACE_MS (STDIO_STDIN_GRACE_MS + STDIO_TERM_GRACE_MS + 1000)

struct orphan_sweep {
	struct loop *loop;
	void (*done)(void *arg);
	void *arg;
	struct sweep *sweep;
	struct loop_timer grace;
	bool found, kill;
};

/* ---- marks ---- */

/* Of this process' namespace of process ids; 0: unknown. */
static unsigned long long
orphan_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0
	    ? (unsigned long long)st.st_ino
	    : 0;
}

void
orphan_mark(char dst[ORPHAN_MARK_MAX])
{
	(void)snprintf(dst, ORPHAN_MARK_MAX, "mcp.%llu.%d.%lld",
	    orphan_namespace(), (int)getpid(),
	    (long long)process_start(getpid()));
}

bool
orphan_mark_is_dead(struct str mark)
{
	struct str rest = mark, name = str_split(&rest, '.'),
		   space = str_split(&rest, '.'), owner = str_split(&rest, '.'),
		   start = str_split(&rest, '.');
	char digits[STR_NUM_MAX];
	int64_t pid, at;

	if (!str_eq(name, STR("mcp")) ||
	    !str_eq(space, str_num((int64_t)orphan_namespace(), digits)) ||
	    str_to_i64(owner, 1, INT32_MAX, &pid) != RC_OK ||
	    str_to_i64(start, 1, INT64_MAX, &at) != RC_OK || rest.p == NULL)
		return false;
	return process_start((pid_t)pid) != at;
}

/* ---- the sweep ---- */

static bool
orphan_is_doomed(void *arg, struct str mark)
{
	struct orphan_sweep *s = arg;

	if (!orphan_mark_is_dead(mark))
		return false;
	s->found = true;
	return s->kill;
}

static void orphan_on_swept(void *arg, size_t killed);

static void
orphan_begin(void *arg)
{
	struct orphan_sweep *s = arg;

	s->sweep = sweep_new(s->loop,
	    &(struct sweep_handler){ orphan_is_doomed, orphan_on_swept, s });
}

/* The first one only looks. */
static void
orphan_on_swept(void *arg, size_t killed)
{
	struct orphan_sweep *s = arg;

	s->sweep = NULL;
	if (s->found && !s->kill) {
		log_info("mcp.orphans_found", LOG_I("wait_ms", ORPHAN_GRACE_MS),
		    LOG_S("why", "a mcp-host was killed, its servers run on"));
		s->kill = true;
		loop_timer_set(s->loop, &s->grace,
		    mono_add_ms(clock_mono(), ORPHAN_GRACE_MS), orphan_begin,
		    s);
		return;
	}
	if (killed > 0)
		log_warn(
		    "mcp.orphans_killed", LOG_I("processes", (int64_t)killed));
	s->done(s->arg);
	orphan_sweep_free(s);
}

struct orphan_sweep *
orphan_sweep_new(struct loop *l, void (*done)(void *arg), void *arg)
{
	struct orphan_sweep *s = mem_zalloc(sizeof(*s));

	s->loop = l;
	s->done = done;
	s->arg = arg;
	orphan_begin(s);
	return s;
}

bool
orphan_sweep_has_found(const struct orphan_sweep *s)
{
	return s->found;
}

void
orphan_sweep_free(struct orphan_sweep *s)
{
	if (s == NULL)
		return;
	loop_timer_cancel(s->loop, &s->grace);
	sweep_free(s->sweep);
	free(s);
}
