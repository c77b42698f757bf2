#include "tool_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue.h"
#include "core/mem.h"
#include "core/metric.h"

#define LABELS_MAX (MCP_NAME_MAX + 96)

struct metric *
tool_server_calls(
    const struct tool_server *s, struct metric_set *metrics, struct str end)
{
	char labels[LABELS_MAX];

	(void)snprintf(labels, sizeof(labels), "server=\"%s\",end=\"%.*s\"",
	    s->label, STR_ARG(end));
	return metric_counter(metrics, "soul_mcp_calls_total",
	    "Calls of tools, by how they ended.", labels);
}

struct tool_server *
tool_server_new(const struct mcp_server *conf, struct mcp_config *config,
    const char *label, struct metric_set *metrics)
{
	struct tool_server *s = mem_zalloc(sizeof(*s));
	char labels[LABELS_MAX];

	s->refs = 1;
	tool_server_update(s, conf, config);
	memcpy(s->key, conf->key, sizeof(s->key));
	s->label = label != NULL ? label : conf->name;
	(void)snprintf(labels, sizeof(labels), "server=\"%s\"", s->label);
	s->n_tools = metric_gauge(
	    metrics, "soul_mcp_tools", "Tools that a server lists.", labels);
	s->restarts = metric_counter(metrics, "soul_mcp_restarts_total",
	    "Restarts of a server that had ended by itself.", labels);
	s->failed_starts =
	    metric_counter(metrics, "soul_mcp_failed_starts_total",
		"Starts of a server, or connections to it, without a list of "
		"its tools.",
		labels);
	(void)tool_server_calls(s, metrics, STR("ok"));
	return s;
}

struct tool_server *
tool_server_ref(struct tool_server *s)
{
	s->refs++;
	return s;
}

void
tool_server_unref(struct tool_server *s)
{
	if (s == NULL || --s->refs > 0)
		return;
	catalogue_unref(s->tools);
	mcp_config_unref(s->config);
	free(s);
}

void
tool_server_update(struct tool_server *s, const struct mcp_server *conf,
    struct mcp_config *config)
{
	struct mcp_config *old = s->config;

	s->conf = conf;
	s->config = mcp_config_ref(config);
	if (s->label != NULL && old != NULL && strcmp(s->label, "user") != 0)
		s->label = conf->name;
	mcp_config_unref(old);
}

bool
tool_server_set_tools(struct tool_server *s, struct catalogue *c)
{
	bool same = s->tools != NULL &&
	    strcmp(catalogue_digest(s->tools), catalogue_digest(c)) == 0;

	if (same)
		return false;
	catalogue_ref(c);
	catalogue_unref(s->tools);
	s->tools = c;
	metric_set(s->n_tools, (int64_t)catalogue_n(c));
	return true;
}
