/*
 * llm_request: checking and copying a chat.
 */
#include <string.h>

#include "llm/llm_internal.h"
#include "wire/tree.h"

#define MESSAGES_MAX    1024
#define TOOLS_MAX       256
#define NAME_MAX_N      64
#define TEMPERATURE_MAX 2

/* Text that JSON can represent: UTF-8 without U+0000. */
static bool
request_is_text(struct str s)
{
	return s.n == 0 ||
	    (str_utf8_count(s) >= 0 && memchr(s.p, '\0', s.n) == NULL);
}

static bool
request_is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && c != '_' && c != '-')
			return false;
	}
	return s.n > 0 && s.n <= NAME_MAX_N;
}

static bool
request_calls_ok(const struct llm_message *m)
{
	if (m->ncalls > LLM_CALLS_MAX)
		return false;
	for (size_t i = 0; i < m->ncalls; i++)
		if (!request_is_text(m->calls[i].id) ||
		    !request_is_text(m->calls[i].name) ||
		    !request_is_text(m->calls[i].arguments))
			return false;
	return true;
}

static const char *
request_problem(const struct llm_chat *chat)
{
	if (chat->nmessages == 0 || chat->nmessages > MESSAGES_MAX)
		return "the number of messages";
	if (chat->ntools > TOOLS_MAX)
		return "the number of tools";
	if (chat->temperature > TEMPERATURE_MAX)
		return "the temperature";
	for (size_t i = 0; i < chat->nmessages; i++) {
		const struct llm_message *m = &chat->messages[i];
		if (!request_is_text(m->text) ||
		    !request_is_text(m->tool_call_id))
			return "a message's text";
		if (!request_calls_ok(m))
			return "a message's calls";
	}
	for (size_t i = 0; i < chat->ntools; i++) {
		const struct llm_tool *t = &chat->tools[i];
		if (!request_is_name(t->name))
			return "a tool's name";
		if (!request_is_text(t->description))
			return "a tool's description";
		if (t->parameters.p != NULL && !wire_is_object(t->parameters))
			return "a tool's parameters";
	}
	return NULL;
}

enum rc
llm_request_check(const struct llm_chat *chat, const char **why)
{
	*why = request_problem(chat);
	return *why == NULL ? RC_OK : RC_INVALID;
}

/* Copy *s; *missing counts what does not fit. */
static void
request_copy_str(struct arena *a, struct str *s, unsigned *missing)
{
	bool present = s->p != NULL;

	*s = arena_str(a, *s);
	if (present && s->p == NULL)
		(*missing)++;
}

static const struct llm_tool_call *
request_copy_calls(
    struct arena *a, const struct llm_message *m, unsigned *missing)
{
	struct llm_tool_call *calls =
	    arena_alloc(a, m->ncalls * sizeof(*calls));

	for (size_t i = 0; calls != NULL && i < m->ncalls; i++) {
		calls[i] = m->calls[i];
		request_copy_str(a, &calls[i].id, missing);
		request_copy_str(a, &calls[i].name, missing);
		request_copy_str(a, &calls[i].arguments, missing);
		request_copy_str(a, &calls[i].extra, missing);
	}
	if (calls == NULL)
		(*missing)++;
	return calls;
}

enum rc
llm_request_copy(
    const struct llm_chat *chat, struct arena *a, struct llm_chat *out)
{
	struct llm_message *messages =
	    arena_alloc(a, chat->nmessages * sizeof(*messages));
	struct llm_tool *tools = arena_alloc(a, chat->ntools * sizeof(*tools));
	unsigned missing = 0;

	if (messages == NULL || tools == NULL)
		return RC_TOOBIG;
	*out = *chat;
	out->messages = messages;
	out->tools = tools;
	out->trace = NULL;
	request_copy_str(a, &out->turn, &missing);
	for (size_t i = 0; i < chat->nmessages; i++) {
		messages[i] = chat->messages[i];
		request_copy_str(a, &messages[i].text, &missing);
		request_copy_str(a, &messages[i].tool_call_id, &missing);
		if (messages[i].ncalls > 0)
			messages[i].calls =
			    request_copy_calls(a, &chat->messages[i], &missing);
	}
	for (size_t i = 0; i < chat->ntools; i++) {
		tools[i] = chat->tools[i];
		request_copy_str(a, &tools[i].name, &missing);
		request_copy_str(a, &tools[i].description, &missing);
		request_copy_str(a, &tools[i].parameters, &missing);
	}
	return missing == 0 ? RC_OK : RC_TOOBIG;
}
