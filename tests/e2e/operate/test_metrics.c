/*
 * Monitoring: the metrics of a working stack have the format of Prometheus, and
 * alerts and dashboard use existing metrics only.
 */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/str.h"
#include "testkit/http.h"
#include "testkit/json.h"
#include "testkit/stack/client.h"
#include "testkit/stack/lock.h"
#include "testkit/stack/stack.h"

/* Locked, for the metrics of authorization. */
STACK_SHARED({ .locked = true })

/* Exercise everything, so that metrics created on first use exist. */
static void
converse(const char *soul)
{
	const struct client o = { &stack, STACK_USER, "s1", STACK_BODY };

	client_set_identity(lock_token(LOCK_DEMO), "127.0.0.1");
	client_wait_terminal(
	    &stack, STACK_USER, STACK_BODY, CLIENT_SEES_INTENTS);
	client_select_soul(&stack, STACK_USER, STACK_BODY,
	    client_create_soul(&stack, STACK_USER, soul, "ENFP"));
	json_decref(client_chat(&o, "把灯变成绿色"));
	json_decref(client_chat(&o, "动一动你的脑袋吧"));
}

/* The metrics of a service. */
static void
scrape(const struct stack_proc *p, struct buf *out)
{
	struct tk_response a = { 0 };

	ck_assert_int_eq(
	    tk_http_request(p->admin, &a, "GET", "/metrics", NULL), 200);
	buf_put_str(out, buf_str(&a.body));
	tk_response_free(&a);
}

/* ---- a star-hub beside the stack ---- */

static void
hub_start(struct stack_proc *hub)
{
	stack_spawn_hub(&stack, hub);
	stack_wait_ready(hub);
}

static void
hub_stop(struct stack_proc *hub)
{
	tk_signal(&hub->proc, SIGTERM);
	ck_assert_int_eq(tk_wait(&hub->proc, STACK_MS), 0);
}

/* ---- an mcp-host beside it ---- */

static void
mcp_start(struct stack_proc *p)
{
	stack_spawn_mcp_host(&stack, NULL, p);
	stack_wait_ready(p);
}

static void
clock_start(struct stack_proc *p)
{
	stack_spawn_alarm_clock(&stack, p);
	stack_wait_ready(p);
}

static void
navigator_start(struct stack_proc *p)
{
	stack_spawn_navigator_plain(&stack, p);
	stack_wait_ready(p);
}

/* ---- an engine-runner beside it ---- */

#define ENGINE                                                       \
	"#!/bin/sh\ncase $* in *--version*) echo codex-cli 1.0.0;; " \
	"*) exit 1;; esac\n"

struct engines {
	struct stack_proc runner, proxy;
};

static bool
engines_has_failed(void *arg)
{
	struct engines *e = arg;
	struct buf text = BUF_INIT(4 * 1024 * 1024);
	bool has;

	scrape(&e->runner, &text);
	has = str_find(buf_str(&text), STR("end=\"failed\"")) >= 0;
	buf_free(&text);
	return has;
}

/* With a run that fails, and a request of a model that is rejected. */
static void
engines_start(struct engines *e)
{
	struct tk_response a = { 0 };
	int status;

	tk_write_file(tk_path("engine"), ENGINE);
	stack_spawn_engines(&stack, tk_path("engine"), &e->runner, &e->proxy);
	stack_wait_ready(&e->runner);
	stack_wait_ready(&e->proxy);
	json_decref(client_call(stack.service[STACK_CHAT_GATEWAY].http, "POST",
	    "/v1/runs",
	    json_pack("{s:s,s:s}", "engine", "codex", "prompt", "fail"),
	    &status));
	ck_assert_int_eq(status, 202);
	ck_assert(tk_until(engines_has_failed, e, STACK_MS));
	ck_assert_int_eq(
	    tk_http_request(e->proxy.http, &a, "POST", "/r/x", "{}"), 403);
	tk_response_free(&a);
}

static void
engines_stop(struct engines *e)
{
	hub_stop(&e->runner);
	hub_stop(&e->proxy);
}

static void
promtool_check(const struct stack_proc *p, const char *name)
{
	struct buf text = BUF_INIT(4 * 1024 * 1024);
	struct tk_proc promtool;
	char command[512];
	const char *argv[] = { "sh", "-c", command, NULL };

	scrape(p, &text);
	tk_write_file(tk_path("metrics"), text.p);
	buf_free(&text);
	snprintf(command, sizeof(command), "promtool check metrics <%s",
	    tk_path("metrics"));
	tk_spawn(&promtool, "promtool", argv, NULL);
	ck_assert_msg(tk_wait(&promtool, 10000) == 0,
	    "%s: promtool finds fault with its metrics", name);
}

TEST(metrics_of_every_service_pass_promtool)
{
	struct stack_proc hub;
	struct engines e;
	int i;

	converse("promtool");
	for (i = 0; i < STACK_SERVICES; i++)
		promtool_check(
		    &stack.service[i], stack_name((enum stack_service)i));
	hub_start(&hub);
	promtool_check(&hub, "star-hub");
	hub_stop(&hub);
	engines_start(&e);
	promtool_check(&e.runner, "engine-runner");
	promtool_check(&e.proxy, "engine-proxy");
	engines_stop(&e);
	mcp_start(&hub);
	promtool_check(&hub, "mcp-host");
	hub_stop(&hub);
	clock_start(&hub);
	promtool_check(&hub, "alarm-clock");
	hub_stop(&hub);
	navigator_start(&hub);
	promtool_check(&hub, "navigator");
	hub_stop(&hub);
}

/* ---- metrics used by alerts and dashboard ---- */

static bool
is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':';
}

static bool
is_service(struct str name)
{
	int i;

	for (i = 0; i < STACK_SERVICES; i++) {
		if (str_eq(name, str_of(stack_name((enum stack_service)i))))
			return true;
	}
	return str_eq(name, STR("star-hub")) ||
	    str_eq(name, STR("engine-runner")) ||
	    str_eq(name, STR("engine-proxy")) ||
	    str_eq(name, STR("alarm-clock")) || str_eq(name, STR("mcp-host")) ||
	    str_eq(name, STR("navigator"));
}

/* Whether a metric with that label (absent: any) has a sample. */
static bool
has_sample(struct str all, struct str name, struct str label, struct str value)
{
	char want[256];
	struct str line;

	snprintf(want, sizeof(want), "%.*s=\"%.*s\"", STR_ARG(label),
	    STR_ARG(value));
	while (all.p != NULL) {
		line = str_split(&all, '\n');
		if (line.n <= name.n || !str_starts(line, name) ||
		    is_name(line.p[name.n]))
			continue;
		if (label.n == 0 || str_find(line, str_of(want)) >= 0)
			return true;
	}
	return false;
}

/*
 * One of a|b|c in label=~"a|b|c"; a variable of the dashboard matches anything.
 */
static void
check_matcher(struct str all, struct str name, struct str matcher)
{
	struct str values, value, label = matcher;
	ptrdiff_t at = str_find(matcher, STR("="));

	if (str_find(matcher, STR("!~")) > 0)
		return;
	ck_assert_msg(at > 0, "%.*s: a matcher without =", STR_ARG(name));
	if (matcher.p[at - 1] == '!')
		return;
	label.n = (size_t)at;
	values = (struct str){ matcher.p + at + 1, matcher.n - (size_t)at - 1 };
	if (str_starts(values, STR("~")))
		values = (struct str){ values.p + 1, values.n - 1 };
	ck_assert_msg(values.n >= 2, "%.*s: no value", STR_ARG(matcher));
	values = (struct str){ values.p + 1, values.n - 2 };
	while (values.p != NULL) {
		value = str_split(&values, '|');
		if (str_starts(value, STR("$")))
			continue;
		if (str_eq(label, STR("job")))
			ck_assert_msg(is_service(value), "%.*s: no service",
			    STR_ARG(value));
		else
			ck_assert_msg(has_sample(all, name, label, value),
			    "no %.*s has %.*s=\"%.*s\"", STR_ARG(name),
			    STR_ARG(label), STR_ARG(value));
	}
}

/* Read a name and the selector in braces after it; rest is what follows. */
static void
check_selector(struct str all, struct str name, struct str *rest)
{
	static const struct str none = { NULL, 0 };
	struct str in;
	ptrdiff_t end;

	ck_assert_msg(has_sample(all, name, none, none), "there is no %.*s",
	    STR_ARG(name));
	if (!str_starts(*rest, STR("{")))
		return;
	end = str_find(*rest, STR("}"));
	ck_assert_int_gt(end, 0);
	in = (struct str){ rest->p + 1, (size_t)end - 1 };
	*rest = (struct str){ rest->p + end, rest->n - (size_t)end };
	while (in.p != NULL)
		check_matcher(all, name, str_trim(str_split(&in, ',')));
}

/* The number of metrics that text uses; each must exist. */
static size_t
check_text(struct str all, struct str text)
{
	static const char *const ours[] = { "soul_", "state_", "svc_", "mqtt_",
		"body_" };
	struct str name;
	size_t i, n = 0;

	while (text.n > 0) {
		for (i = 0; i < text.n && is_name(text.p[i]); i++)
			;
		name = (struct str){ text.p, i };
		text = i > 0 ? (struct str){ text.p + i, text.n - i }
			     : (struct str){ text.p + 1, text.n - 1 };
		for (i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
			if (str_starts(name, str_of(ours[i]))) {
				check_selector(all, name, &text);
				n++;
			}
		}
	}
	return n;
}

static struct buf
scrape_all(const char *soul)
{
	struct buf all = BUF_INIT(16 * 1024 * 1024);
	struct stack_proc hub;
	struct engines e;
	int i;

	converse(soul);
	for (i = 0; i < STACK_SERVICES; i++)
		scrape(&stack.service[i], &all);
	hub_start(&hub);
	scrape(&hub, &all);
	hub_stop(&hub);
	engines_start(&e);
	scrape(&e.runner, &all);
	scrape(&e.proxy, &all);
	engines_stop(&e);
	mcp_start(&hub);
	scrape(&hub, &all);
	hub_stop(&hub);
	clock_start(&hub);
	scrape(&hub, &all);
	hub_stop(&hub);
	navigator_start(&hub);
	scrape(&hub, &all);
	hub_stop(&hub);
	return all;
}

TEST(alerts_use_existing_metrics)
{
	struct buf all = scrape_all("alerts");
	size_t n;
	char *text = tk_read_file("deploy/alerts.yaml", &n);

	ck_assert_uint_gt(
	    check_text(buf_str(&all), (struct str){ text, n }), 30);
	free(text);
	buf_free(&all);
}

TEST(the_dashboard_uses_existing_metrics)
{
	struct buf all = scrape_all("dashboard");
	size_t n, i, k, found = 0;
	char *text = tk_read_file("deploy/grafana-soul.json", &n);
	json_t *j = tk_json(text, n), *panels = json_object_get(j, "panels");

	for (i = 0; i < json_array_size(panels); i++) {
		json_t *p = json_array_get(panels, i);
		json_t *targets = json_object_get(p, "targets");

		for (k = 0; k < json_array_size(targets); k++)
			found += check_text(buf_str(&all),
			    str_of(
				tk_text(json_array_get(targets, k), "expr")));
	}
	ck_assert_uint_gt(found, 50);
	json_decref(j);
	free(text);
	buf_free(&all);
}

/* The checks themselves detect a missing metric. */
TEST(a_missing_metric_is_detected)
{
	static const struct str all = STR_INIT(
	    "# HELP soul_x_total soul_y_total\nsoul_x_total{a=\"b\"} 1\n");

	ck_assert(has_sample(all, STR("soul_x_total"), STR("a"), STR("b")));
	ck_assert(!has_sample(all, STR("soul_x_total"), STR("a"), STR("c")));
	ck_assert(!has_sample(all, STR("soul_x"), STR(""), STR("")));
	ck_assert(!has_sample(all, STR("soul_y_total"), STR(""), STR("")));
	ck_assert_uint_eq(
	    check_text(all, STR("rate(soul_x_total{a=\"b\"}[5m]) > 0")), 1);
	ck_assert_uint_eq(check_text(all, STR("up{job=\"x\"}")), 0);
}
