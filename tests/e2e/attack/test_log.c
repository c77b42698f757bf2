/*
 * Untrusted text reaches the log: the process that logs it keeps running,
 * whatever the length and content.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/http.h"
#include "testkit/stack/client.h"
#include "testkit/stack/peer.h"

static const struct stack_opts opts = {
	.env = { [STACK_CHAT_GATEWAY] = { "LOG_LEVEL=debug",
		     "RATE_ADDRESS_PER_S=0" } }
};
static struct stack stack;

#define GATEWAY (stack.service[STACK_CHAT_GATEWAY].http)
/* A host and a topic that just exceed a log line, with their separator. */
#define HOST_BYTES  3965
#define TOPIC_BYTES 4008
/* Paths that end near the end of a log line. */
#define PATH_LEAST 3900
#define PATH_MOST  4020

static const struct client demo = { &stack, STACK_USER, "s1", STACK_BODY };

/* All processes run, and exit as they should. */
static void
ck_all_serve(void)
{
	client_wait_terminal(
	    &stack, STACK_USER, STACK_BODY, CLIENT_SEES_SKILLS);
	client_select_soul(&stack, STACK_USER, STACK_BODY,
	    client_create_soul(&stack, STACK_USER, "x", "INTJ"));
	json_decref(client_chat(&demo, "把灯变成绿色"));
	stack_check(&stack);
	ck_assert_ptr_null(stack_end(&stack));
}

/* n bytes, of which the last but one is special. */
static const char *
text_with(char odd, size_t n)
{
	static char text[8192];

	ck_assert_uint_lt(n, sizeof(text));
	memset(text, 'a', n);
	text[n - 2] = odd;
	text[n] = '\0';
	return text;
}

TEST_T(a_host_as_long_as_the_log_line, 60)
{
	struct tk_response a = { 0 };

	stack_start(&stack, &opts);
	ck_assert_int_eq(tk_http_call(GATEWAY, &a,
			     "GET /v1/terminals?user_id=x HTTP/1.1\r\n"
			     "Host: %s\r\nConnection: close\r\n\r\n",
			     text_with(' ', HOST_BYTES)),
	    403);
	ck_assert_uint_eq(
	    stack_lines(&stack, STACK_CHAT_GATEWAY, "ev=svc.foreign_host"), 1);
	tk_response_free(&a);
	ck_all_serve();
}

TEST_T(a_path_as_long_as_the_log_line, 120)
{
	static const char odd[] = { '=', '"', 'a' };
	struct tk_response a = { 0 };
	size_t i, n;

	stack_start(&stack, &opts);
	for (i = 0; i < sizeof(odd); i++) {
		for (n = PATH_LEAST; n < PATH_MOST; n++)
			ck_assert_int_ne(
			    tk_http_call(GATEWAY, &a,
				"GET /%s HTTP/1.1\r\nHost: localhost\r\n"
				"Connection: close\r\n\r\n",
				text_with(odd[i], n)),
			    0);
	}
	tk_response_free(&a);
	ck_all_serve();
}

static bool
topic_is_logged(void *arg)
{
	(void)arg;
	return stack_lines(&stack, STACK_MQTT_BRIDGE, "ev=bridge.topic") > 0;
}

/* The broker retained it and sends it to every bridge that subscribes. */
TEST_T(a_topic_as_long_as_the_log_line, 60)
{
	struct peer *evil;
	char topic[TOPIC_BYTES + 1];
	int n;

	stack_start(&stack, &opts);
	evil = peer_new(&stack, NULL);
	n = snprintf(topic, sizeof(topic), "soul/terminal/hostile-001/result/");
	memcpy(topic + n, text_with(' ', TOPIC_BYTES - (size_t)n),
	    sizeof(topic) - (size_t)n);
	stack_kill(&stack, STACK_MQTT_BRIDGE);
	peer_send(evil, topic, "x", 1, PEER_REPORT);
	stack_restart(&stack, STACK_MQTT_BRIDGE);
	ck_assert(tk_until(topic_is_logged, NULL, STACK_MS));
	peer_send(evil, topic, "y", 1, PEER_QOS1);
	peer_free(evil);
	ck_all_serve();
}
