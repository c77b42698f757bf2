/*
 * Requests keep to what every server understands: "system" and not
 * "developer", "max_tokens", content as a plain string, and no member that was
 * not asked for.
 */
#include "llm/request.h"

#include "core/arena.h"
#include "core/log.h"
#include "wire/msgs.h"
#include "wire/out.h"
#include "wire/wire.h"

/* A JSON string that says s, from a. */
static struct str
quoted(struct arena *a, struct str s)
{
	struct buf b = BUF_INIT(LLM_REQUEST_MAX);
	struct wire_out o = { .b = &b };

	wire_out_str(&o, s);
	struct str out = arena_str(a, buf_str(&b));
	buf_free(&b);
	return out;
}

static enum rc
put_calls(struct arena *a, const struct llm_message *from,
    struct wire_llm_chat_request_messages *to)
{
	to->has_tool_calls = from->ncalls > 0;
	to->n_tool_calls = from->ncalls;
	to->tool_calls = arena_alloc(a, from->ncalls * sizeof(*to->tool_calls));
	if (to->tool_calls == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < from->ncalls; i++) {
		const struct llm_tool_call *call = &from->calls[i];
		struct str arguments = quoted(a, call->arguments);
		if (arguments.p == NULL)
			return RC_TOOBIG;
		to->tool_calls[i] = (struct wire_llm_tool_call){
			.id = call->id,
			.type = STR("function"),
			.function = { .name = call->name,
			    .arguments = arguments },
			.has_function = true,
			.extra_content = call->extra,
		};
	}
	return RC_OK;
}

static enum rc
put_messages(struct arena *a, const struct llm_chat *chat,
    struct wire_llm_chat_request *rq)
{
	static const enum wire_llm_chat_request_messages_role roles[] = {
		[LLM_SYSTEM] = WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_SYSTEM,
		[LLM_USER] = WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_USER,
		[LLM_ASSISTANT] = WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_ASSISTANT,
		[LLM_TOOL] = WIRE_LLM_CHAT_REQUEST_MESSAGES_ROLE_TOOL,
	};

	rq->n_messages = chat->nmessages;
	rq->messages = arena_alloc(a, chat->nmessages * sizeof(*rq->messages));
	if (rq->messages == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < chat->nmessages; i++) {
		const struct llm_message *from = &chat->messages[i];
		struct wire_llm_chat_request_messages *to = &rq->messages[i];
		to->role = roles[from->role];
		to->content = from->text;
		to->tool_call_id = from->tool_call_id;
		/* Only an assistant that calls tools may say nothing. */
		if (to->content.p == NULL && from->ncalls == 0)
			to->content = STR("");
		if (from->ncalls > 0 && put_calls(a, from, to) != RC_OK)
			return RC_TOOBIG;
	}
	return RC_OK;
}

static enum rc
put_tools(struct arena *a, const struct llm_chat *chat,
    struct wire_llm_chat_request *rq)
{
	if (chat->ntools == 0)
		return RC_OK;
	rq->has_tools = true;
	rq->n_tools = chat->ntools;
	rq->tools = arena_alloc(a, chat->ntools * sizeof(*rq->tools));
	if (rq->tools == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < chat->ntools; i++) {
		const struct llm_tool *from = &chat->tools[i];
		struct wire_llm_chat_request_tools_function *to =
		    &rq->tools[i].function;
		to->name = from->name;
		to->description = from->description;
		to->parameters = from->parameters;
		if (to->parameters.p == NULL)
			to->parameters =
			    STR("{\"type\":\"object\",\"properties\":{}}");
	}
	if (chat->choice == LLM_CHOICE_NONE)
		rq->tool_choice = STR("\"none\"");
	else if (chat->choice == LLM_CHOICE_REQUIRED)
		rq->tool_choice = STR("\"required\"");
	return RC_OK;
}

static enum rc
fill(struct arena *a, const struct llm_chat *chat, struct str model,
    struct wire_llm_chat_request *rq)
{
	wire_init(&wire_llm_chat_request_desc, rq);
	rq->model = model;
	rq->has_stream = chat->stream;
	rq->stream = chat->stream;
	rq->has_stream_options = chat->stream;
	rq->stream_options.has_include_usage = true;
	rq->stream_options.include_usage = true;
	rq->has_temperature = chat->temperature >= 0;
	rq->temperature = chat->temperature;
	rq->has_max_tokens = chat->max_tokens > 0;
	rq->max_tokens = chat->max_tokens;
	enum rc rc = put_messages(a, chat, rq);
	return rc == RC_OK ? put_tools(a, chat, rq) : rc;
}

enum rc
request_write(const struct llm_chat *chat, struct str model, struct buf *out)
{
	struct arena *a = arena_new(LLM_REQUEST_MAX);
	struct wire_llm_chat_request rq;
	struct wire_err err;
	enum rc rc = fill(a, chat, model, &rq);

	if (rc == RC_OK) {
		rc = wire_encode(&wire_llm_chat_request_desc, &rq, out, &err);
		if (rc == RC_INVALID)
			log_error("llm.request_invalid",
			    LOG_S("path", err.path), LOG_S("why", err.why));
	}
	arena_free(a);
	return rc;
}
