/*
 * What an idle stack takes: the memory of each service, and the connections
 * that its HTTP workers are there for.
 */
#include <stdio.h>

#include "core/mem.h"
#include "testkit/http.h"
#include "testkit/stack/client.h"

#define IDLE_KIB (12 * 1024)
/* Sanitizers multiply what a process has in memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEASURED false
#else
#define MEASURED true
#endif

/* Kept-alive clients of one service, and requests of each. */
#define CLIENTS  64
#define REQUESTS 5

STACK_SHARED({ .no_capture = true })

TEST_T(an_idle_service_has_at_most_12_mib, 120)
{
	for (int s = 0; s < STACK_SERVICES; s++) {
		pid_t pid = stack.service[s].proc.pid;
		long kib = tk_proc_status(pid, "VmRSS");

		printf("%s: %ld KiB, %ld threads\n", stack_name(s), kib,
		    tk_proc_status(pid, "Threads"));
		(void)fflush(stdout);
		ck_assert_int_gt(kib, 0);
		ck_assert_msg(!MEASURED || kib <= IDLE_KIB, "%s has %ld KiB",
		    stack_name(s), kib);
	}
}

/* All clients send before any of them reads, and no connection is closed. */
static void
serve_clients(enum stack_service s, const char *request)
{
	static struct tk_http c[CLIENTS];
	struct tk_response a = { 0 };

	for (size_t i = 0; i < CLIENTS; i++)
		tk_http_open(&c[i], stack.service[s].http);
	for (size_t n = 0; n < REQUESTS; n++) {
		for (size_t i = 0; i < CLIENTS; i++)
			ck_assert(tk_http_puts(&c[i], request));
		for (size_t i = 0; i < CLIENTS; i++) {
			ck_assert_msg(tk_http_read(&c[i], &a, STACK_MS),
			    "%s closed connection %zu", stack_name(s), i);
			ck_assert_msg(a.status == 200, "%s: %d %.*s",
			    stack_name(s), a.status,
			    STR_ARG(buf_str(&a.body)));
			tk_response_free(&a);
		}
	}
	for (size_t i = 0; i < CLIENTS; i++)
		tk_http_close(&c[i]);
}

TEST_T(sixty_four_kept_alive_clients_are_served, 120)
{
	static const char command[] =
	    "{\"text\":\"打开灯\",\"locale\":\"zh-CN\","
	    "\"intent_catalog\":{\"intents\":[]}}";
	char post[512];

	snprintf(post, sizeof(post),
	    "POST /v1/intents/filter HTTP/1.1\r\nHost: localhost\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	    sizeof(command) - 1, command);
	serve_clients(STACK_INTENT_FILTER, post);
	serve_clients(STACK_EMOTION_ENGINE,
	    "GET /v1/emotion/pad-table HTTP/1.1\r\nHost: localhost\r\n\r\n");
}
