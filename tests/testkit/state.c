#include "testkit/state.h"

#include "state/soul.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#define WAIT_MS     20000
#define DEADLINE_MS 5000
#define ARENA_MAX   (64UL * 1024 * 1024)

static bool
state_is_connected(void *arg)
{
	return state_up(arg);
}

void
tk_state_wait(struct tk_state *k)
{
	ck_assert_msg(tk_loop_until(k->loop, state_is_connected, k->s, WAIT_MS),
	    "Redis is not connected");
}

void
tk_state_on_format(void *arg)
{
	(void)arg;
	ck_abort_msg("Redis has keys of another format");
}

void
tk_state_open(struct tk_state *k, const char *url)
{
	struct state_opts o = { .url = url,
		.name = "testkit",
		.deadline_ms = DEADLINE_MS,
		.on_format = tk_state_on_format };

	o.loop = k->loop = loop_new(64);
	o.workers = k->workers = worker_new(k->loop, 1, 16);
	k->arena = arena_new(ARENA_MAX);
	ck_assert_int_eq(state_new(&o, &k->s), RC_OK);
	tk_state_wait(k);
}

void
tk_state_close(struct tk_state *k)
{
	state_free(k->s);
	worker_free(k->workers);
	loop_free(k->loop);
	arena_free(k->arena);
}

void
tk_state_soul(
    struct tk_state *k, const char *id, const char *mbti, const char *user)
{
	const struct soul soul = { .id = str_of(id),
		.user_id = str_of(user),
		.name = str_of(id),
		.mbti_type = str_of(mbti),
		.model = STR("persona-pad-v3"),
		.created = clock_wall() };

	ck_assert_int_eq(soul_create(k->s, &soul, STR("")), RC_OK);
}
