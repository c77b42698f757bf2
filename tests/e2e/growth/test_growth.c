/*
 * Thousands of turns, successful and failed, leave no memory, descriptors or
 * threads behind.
 */
#include <stdio.h>

#include "core/mem.h"
#include "testkit/stack/client.h"

/*
 * The first turns fill caches.  A leak grows with each half of the others; more
 * jobs at the same time than before, which a busy machine has, in one of them.
 */
#define WARM_UP   500
#define HALF      1500
#define GROWN_KIB 1024
/* Sanitizers detect leaks themselves, and hold freed memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FEW 25
#else
#define FEW 1
#endif

/* A worker's stack is resident after its first request: few workers. */
STACK_SHARED({ .no_capture = true,
    .env = { [STACK_LLM_SIM] = { "HTTP_WORKERS=24" },
	[STACK_CHAT_GATEWAY] = { "HTTP_WORKERS=24" } } })

static const char *const reported[] = {
	"把灯变成绿色",       /* an intent */
	"今天上海天气如何？", /* the model */
	"动一动你的脑袋吧",   /* the model and a skill */
	"我今天真的太开心了", /* an emotion */
	"记得我喜欢什么吗",   /* a memory search */
};

static const char *const cause[] = { "error", "cut", "bad_arguments", "quota" };

/* The next request to the model fails. */
static void
send_invalid(size_t i)
{
	char text[64];
	int status;

	snprintf(text, sizeof(text), "{\"faults\":[{\"kind\":\"%s\"}]}",
	    cause[i % NELEM(cause)]);
	json_decref(client_call(stack.service[STACK_LLM_SIM].http, "POST",
	    "/sim/script", json_loads(text, 0, NULL), &status));
	ck_assert_int_eq(status, 200);
}

static void
turn(struct client *o, size_t i)
{
	char session[32];
	int status;

	snprintf(session, sizeof(session), "s%zu", i % 7);
	o->session = session;
	if (i % 20 == 0)
		send_invalid(i / 20);
	json_decref(client_call(stack.service[STACK_CHAT_GATEWAY].http, "POST",
	    "/v1/chat", client_chat_request(o, reported[i % NELEM(reported)]),
	    &status));
	ck_assert_int_ne(status, 0);
	if (i % 20 > 5)
		ck_assert_int_eq(status, 200);
}

static void
measure(long kib[STACK_SERVICES])
{
	for (int s = 0; s < STACK_SERVICES; s++)
		kib[s] = tk_proc_status(stack.service[s].proc.pid, "VmRSS");
}

TEST_T(three_thousand_turns_leak_nothing, 300)
{
	struct client o = { &stack, STACK_USER, "", STACK_BODY };
	long kib[3][STACK_SERVICES], grown[2];
	size_t i = 0;

	client_wait_terminal(
	    &stack, STACK_USER, STACK_BODY, CLIENT_SEES_INTENTS);
	client_select_soul(&stack, STACK_USER, STACK_BODY,
	    client_create_soul(&stack, STACK_USER, "小元", "ENFP"));
	for (size_t n = 0; n < NELEM(kib); n++) {
		for (; i < (WARM_UP + n * HALF) / FEW; i++)
			turn(&o, i);
		measure(kib[n]);
	}
	for (int s = 0; s < STACK_SERVICES; s++) {
		grown[0] = kib[1][s] - kib[0][s];
		grown[1] = kib[2][s] - kib[1][s];
		printf("%s: %ld KiB, %+ld, %+ld\n", stack_name(s), kib[0][s],
		    grown[0], grown[1]);
		(void)fflush(stdout);
		ck_assert_msg(
		    FEW > 1 || grown[0] <= GROWN_KIB || grown[1] <= GROWN_KIB,
		    "%s grew by %ld and %ld KiB", stack_name(s), grown[0],
		    grown[1]);
	}
}
