/*
 * A call of a tool through NATS and mcp-host, beside the same call written to
 * the standard input of another process of the same server.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buf.h"
#include "testkit/figures.h"
#include "testkit/json.h"
#include "testkit/mcp_fixture.h"
#include "testkit/nats_wire.h"

#define ROUNDS 10
#define CALLS  200
#define WARMUP 50
#define INBOX  "_INBOX.bench"

static struct mcp_fixture f;
static struct tk_wire wire;
static char definition[128];
static int direct;
static FILE *replies;

/* ---- through mcp-host ---- */

static void
host_open(void)
{
	json_t *list, *t;
	size_t i;

	mh_config(MH_SIM("sim", ""), MH_SIM_AT);
	mh_start(&f);
	mh_await_tools(&f, 6);
	list = mh_list(&f, "echo", 64);
	json_array_foreach (json_object_get(list, "tools"), i, t) {
		if (strcmp(tk_text(t, "name"), "sim__echo") == 0)
			snprintf(definition, sizeof(definition), "%s",
			    tk_text(t, "definition"));
	}
	json_decref(list);
	tk_wire_open(&wire, f.nats.port);
	tk_wire_subscribe(&wire, INBOX);
}

static void
host_call(int n)
{
	struct tk_wire_msg m;
	char body[1024];

	snprintf(body, sizeof(body),
	    "{\"call_id\":\"bench-%d\",\"user_id\":\"ann\",\"soul_id\":\"s\","
	    "\"session_id\":\"x\",\"turn_id\":\"t\",\"name\":\"sim__echo\","
	    "\"definition\":\"%s\",\"arguments\":{\"text\":\"hello\"}}",
	    n, definition);
	tk_wire_publish(&wire, "soul.tool.mcp-host.call", INBOX, str_of(body));
	do
		tk_wire_next(&wire, MH_MS, &m);
	while (str_find(m.data, STR("\"running\"")) >= 0);
	ck_assert_msg(
	    str_find(m.data, STR("\"hello\"")) >= 0, "%.*s", STR_ARG(m.data));
}

/* ---- directly ---- */

static void
direct_send(const char *line)
{
	char text[1024];
	int n = snprintf(text, sizeof(text), "%s\n", line);

	ck_assert_int_eq(write(direct, text, (size_t)n), n);
}

static void
direct_open(void)
{
	static char reply[65536];
	int pair[2];

	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	if (fork() == 0) {
		(void)dup2(pair[1], 0);
		(void)dup2(pair[1], 1);
		execl(tk_bin("mcp-sim"), "mcp-sim", (char *)NULL);
		_exit(127);
	}
	close(pair[1]);
	direct = pair[0];
	replies = fdopen(dup(pair[0]), "r");
	direct_send("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
		    "\"params\":{\"protocolVersion\":\"2025-11-25\","
		    "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\","
		    "\"version\":\"1\"}}}");
	ck_assert_ptr_nonnull(fgets(reply, sizeof(reply), replies));
	direct_send("{\"jsonrpc\":\"2.0\","
		    "\"method\":\"notifications/initialized\"}");
}

static void
direct_call(int n)
{
	static char reply[65536];
	char line[512];

	snprintf(line, sizeof(line),
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
	    "\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"hello\"}}"
	    "}",
	    n);
	direct_send(line);
	do
		ck_assert_ptr_nonnull(fgets(reply, sizeof(reply), replies));
	while (strstr(reply, "\"result\"") == NULL);
	ck_assert_ptr_nonnull(strstr(reply, "hello"));
}

/* The median of a round of calls, in us. */
static double
median_of(void (*call)(int n), int n)
{
	static double took[CALLS];

	for (int i = 0; i < n; i++) {
		static int id;
		double began = tk_now_ns();

		call(++id);
		took[i] = (tk_now_ns() - began) / 1e3;
	}
	return tk_median(took, (size_t)n);
}

TEST_T(a_call_costs_at_most_a_millisecond_more, 120)
{
	double through[ROUNDS], beside[ROUNDS], more[ROUNDS], ratio[ROUNDS];

	host_open();
	direct_open();
	(void)median_of(host_call, WARMUP);
	(void)median_of(direct_call, WARMUP);
	for (int i = 0; i < ROUNDS; i++) {
		through[i] = median_of(host_call, CALLS);
		beside[i] = median_of(direct_call, CALLS);
		more[i] = through[i] - beside[i];
		ratio[i] = through[i] / beside[i];
	}
	printf("p50 of a tool call: through mcp-host %.0f us, directly %.0f "
	       "us; difference %.0f us, ratio %.1f (median of %d rounds)\n",
	    tk_median(through, ROUNDS), tk_median(beside, ROUNDS),
	    tk_median(more, ROUNDS), tk_median(ratio, ROUNDS), ROUNDS);
	tk_print_load();
	ck_assert_double_le(tk_median(more, ROUNDS), 1000);
	fclose(replies);
	close(direct);
	(void)wait(NULL);
	tk_wire_close(&wire);
	mh_stop(&f);
}
