/*
 * After five sad turns the sixth call of the model has navigator's suggestion:
 * its reply differs from that without one, and an event says why.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "testkit/stack/client.h"
#include "testkit/stack/stack.h"

#define TURNS   5
#define SAD     "我今天好难过，想哭"
#define WAIT_MS 60000
#define EVENTS \
	"/v1/events?types=navigator_suggestion&limit=500&user_id=" STACK_USER
/* How llm-sim replies with a suggestion in its prompt, and without. */
#define WITH    "我在听，你说：" SAD
#define WITHOUT "我听到你说：" SAD

static struct stack st;
static struct stack_proc navigator;

static void
ck_sad_turn(const struct client *c, const char *reply)
{
	json_t *j = client_chat(c, SAD);

	ck_assert_msg(tk_text_has(j, "reply", reply), "%s, not %s",
	    tk_text(j, "reply"), reply);
	json_decref(j);
}

struct suggested {
	const char *soul;
	json_t *event; /* the newest of the soul */
};

static bool
is_suggested(void *arg)
{
	struct suggested *s = arg;
	json_t *page = client_ok(&st, "GET", EVENTS, NULL), *e;
	size_t i;

	json_array_foreach (tk_find(page, "items"), i, e) {
		if (strcmp(tk_find_text(e, "event.payload.soul_id"), s->soul) !=
		    0)
			continue;
		json_decref(s->event);
		s->event = json_incref(e);
	}
	json_decref(page);
	return s->event != NULL;
}

static void
ck_event(const char *soul)
{
	struct suggested s = { .soul = soul };

	ck_assert(tk_until(is_suggested, &s, WAIT_MS));
	ck_assert_str_ne(tk_find_text(s.event, "event.payload.suggestion"), "");
	ck_assert_str_eq(
	    tk_find_text(s.event, "event.payload.trigger"), "emotion");
	ck_assert_str_eq(tk_find_text(s.event, "event.source"), "navigator");
	ck_assert_ptr_nonnull(tk_find(s.event, "event.meta.psyche_state"));
	json_decref(s.event);
}

TEST_T(the_sixth_reply_follows_the_suggestion, 180)
{
	static const struct stack_opts o = { .no_mqtt_capture = true };
	struct client c;
	const char *why;

	stack_start(&st, &o);
	/* The control. */
	c = client_bound(&st, STACK_USER, STACK_BODY);
	for (int i = 0; i <= TURNS; i++)
		ck_sad_turn(&c, WITHOUT);

	const char *soul =
	    client_create_soul(&st, STACK_USER, "another", "INFP");
	client_select_soul(&st, STACK_USER, STACK_BODY, soul);
	stack_spawn_navigator_plain(&st, &navigator);
	stack_wait_ready(&navigator);
	c.session = "s2";
	for (int i = 0; i < TURNS; i++)
		ck_sad_turn(&c, SAD);
	ck_event(soul);
	ck_sad_turn(&c, WITH);

	tk_signal(&navigator.proc, SIGTERM);
	ck_assert_int_eq(tk_wait(&navigator.proc, WAIT_MS), 0);
	why = stack_end(&st);
	ck_assert_msg(why == NULL, "%s", why);
}
