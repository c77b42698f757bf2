/*
 * The route table, with the error texts of the protocol for missing members.
 */
#include "handlers.h"

#include "core/mem.h"
#include "openai/openai_view.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define DEADLINE_MS 5000
/* The longest wait for a device, and what comes before. */
#define INVOKE_MS 40000
/* Many souls and sessions. */
#define DELETE_ALL_MS 60000

static const struct svc_text chat_texts[] = {
	{ "", "invalid json" },
	{ "/session_id", "session_id and terminal_id are required" },
	{ "/terminal_id", "session_id and terminal_id are required" },
	{ "/inputs", "inputs is required" },
};
static const struct svc_text create_texts[] = {
	{ "", "invalid json" },
	{ "/name", "name and mbti_type are required" },
	{ "/mbti_type", "name and mbti_type are required" },
};
static const struct svc_text select_texts[] = {
	{ "", "invalid json" },
	{ "/terminal_id", "terminal_id and soul_id are required" },
	{ "/soul_id", "terminal_id and soul_id are required" },
};

/* Routes without a request body, with one, and with texts for its errors. */
#define BARE(n, m, p, rep, f)                         \
	{                                             \
		.name = n, .method = m, .path = p,    \
		.reply = &wire_##rep##_desc, .fn = f, \
		.deadline_ms = DEADLINE_MS            \
	}
#define BODY(n, m, p, req, rep, f)                                          \
	{                                                                   \
		.name = n, .method = m, .path = p,                          \
		.request = &wire_##req##_desc, .reply = &wire_##rep##_desc, \
		.fn = f, .deadline_ms = DEADLINE_MS                         \
	}
#define POST(n, p, req, rep, f, t, ms)                                      \
	{                                                                   \
		.name = n, .method = "POST", .path = p,                     \
		.request = &wire_##req##_desc, .reply = &wire_##rep##_desc, \
		.fn = f, .deadline_ms = ms, .texts = t, .ntexts = NELEM(t)  \
	}

const struct svc_route routes[ROUTES_N] = {
	POST("chat", WIRE_HTTP_CHAT, chat_request, chat_response, on_chat,
	    chat_texts, WIRE_DEADLINE_MS_TURN_START),
	{ .name = "openai_chat",
	    .method = "POST",
	    .path = WIRE_HTTP_OPENAI_CHAT,
	    .request = &wire_openai_chat_request_desc,
	    .reply = &wire_openai_chat_response_desc,
	    .fn = on_openai_chat,
	    .deadline_ms = WIRE_DEADLINE_MS_TURN_START },
	{ .name = "agui_run",
	    .method = "POST",
	    .path = WIRE_HTTP_AGUI_RUN,
	    .request = &wire_agui_run_request_desc,
	    .reply = &wire_agui_event_desc,
	    .fn = on_agui_run,
	    .deadline_ms = WIRE_DEADLINE_MS_TURN_START },
	{ .name = "souls_mcp",
	    .method = "POST",
	    .path = WIRE_HTTP_SOULS_MCP,
	    .request = &wire_soul_mcp_request_desc,
	    .reply = &wire_soul_mcp_response_desc,
	    .fn = on_soul_mcp,
	    .deadline_ms = WIRE_DEADLINE_MS_TURN_START },
	BARE("openai_models", "GET", WIRE_HTTP_OPENAI_MODELS, openai_model_list,
	    on_openai_models),
	BARE(
	    "turns_get", "GET", WIRE_HTTP_TURNS_GET, turn_record, on_turns_get),
	BODY("turns_cancel", "POST", WIRE_HTTP_TURNS_CANCEL, turn_cancel_body,
	    turn_cancel_reply, on_turns_cancel),
	BARE("sessions_events", "GET", WIRE_HTTP_SESSIONS_EVENTS, chat_event,
	    on_events),
	{ .name = "sessions_reply",
	    .method = "POST",
	    .path = WIRE_HTTP_SESSIONS_REPLY,
	    .request = &wire_interaction_reply_desc,
	    .reply = &wire_chat_response_desc,
	    .fn = on_sessions_reply,
	    .deadline_ms = WIRE_DEADLINE_MS_TURN_START },
	BARE("interactions", "GET", WIRE_HTTP_INTERACTIONS, interaction_list,
	    on_interactions),
	BARE("events_list", "GET", WIRE_HTTP_EVENTS_LIST, event_page,
	    on_events_list),
	BARE("live", "GET", WIRE_HTTP_LIVE, event_envelope, on_live),
	BARE("me", "GET", WIRE_HTTP_ME, me, on_me),
	BARE("souls_list", "GET", WIRE_HTTP_SOULS_LIST, soul_list,
	    on_souls_list),
	POST("souls_create", WIRE_HTTP_SOULS_CREATE, soul_create_request, soul,
	    on_souls_create, create_texts, DEADLINE_MS),
	POST("souls_select", WIRE_HTTP_SOULS_SELECT, soul_select_request,
	    soul_select_response, on_souls_select, select_texts, DEADLINE_MS),
	BARE("souls_delete", "DELETE", WIRE_HTTP_SOULS_DELETE, ok_response,
	    on_souls_delete),
	{ .name = "souls_star_enter",
	    .method = "POST",
	    .path = WIRE_HTTP_SOULS_STAR_ENTER,
	    .request = &wire_star_enter_body_desc,
	    .reply = &wire_star_soul_place_desc,
	    .fn = on_soul_star_enter,
	    .deadline_ms = DEADLINE_MS },
	{ .name = "souls_star_get",
	    .method = "GET",
	    .path = WIRE_HTTP_SOULS_STAR_GET,
	    .reply = &wire_star_soul_place_desc,
	    .fn = on_soul_star_get,
	    .deadline_ms = DEADLINE_MS },
	BARE("souls_star_leave", "DELETE", WIRE_HTTP_SOULS_STAR_LEAVE,
	    ok_response, on_soul_star_leave),
	BARE("souls_emotion", "GET", WIRE_HTTP_SOULS_EMOTION,
	    emotion_state_reply, on_emotion),
	BARE("souls_emotion_history", "GET", WIRE_HTTP_SOULS_EMOTION_HISTORY,
	    emotion_history_reply, on_emotion_history),
	BARE("star_environments", "GET", WIRE_HTTP_STAR_ENVIRONMENTS,
	    star_environment_list, on_star_environments),
	BARE("star_members", "GET", WIRE_HTTP_STAR_MEMBERS, star_member_list,
	    on_star_environment_members),
	BARE("star_events", "GET", WIRE_HTTP_STAR_EVENTS, star_history_reply,
	    on_star_environment_events),
	BARE("star_kick", "DELETE", WIRE_HTTP_STAR_KICK, star_kick_reply,
	    on_star_client_kick),
	BARE("terminals_list", "GET", WIRE_HTTP_TERMINALS_LIST, terminal_list,
	    on_terminals_list),
	BARE("terminals_get", "GET", WIRE_HTTP_TERMINALS_GET, terminal,
	    on_terminals_get),
	{ .name = "terminals_invoke",
	    .method = "POST",
	    .path = WIRE_HTTP_TERMINALS_INVOKE,
	    .request = &wire_invoke_body_desc,
	    .reply = &wire_invoke_result_desc,
	    .fn = on_terminals_invoke,
	    .deadline_ms = INVOKE_MS },
	BODY("terminals_mint", "POST", WIRE_HTTP_TERMINALS_MINT,
	    identity_mint_request, identity_secret, on_terminals_mint),
	BODY("terminals_rotate", "POST", WIRE_HTTP_TERMINALS_ROTATE,
	    identity_rotate_request, identity_secret, on_terminals_rotate),
	BARE("terminals_revoke", "DELETE", WIRE_HTTP_TERMINALS_REVOKE,
	    ok_response, on_terminals_revoke),
	BARE("identities_list", "GET", WIRE_HTTP_IDENTITIES_LIST, identity_list,
	    on_identities_list),
	BARE("terminals_unbind", "DELETE", WIRE_HTTP_TERMINALS_UNBIND,
	    ok_response, on_terminals_unbind),
	BARE("sessions_messages", "GET", WIRE_HTTP_SESSIONS_MESSAGES,
	    session_messages, on_sessions_messages),
	BARE("sessions_delete", "DELETE", WIRE_HTTP_SESSIONS_DELETE,
	    ok_response, on_sessions_delete),
	BARE("memories_list", "GET", WIRE_HTTP_MEMORIES_LIST, memory_list_reply,
	    on_memories_list),
	BARE("memories_export", "GET", WIRE_HTTP_MEMORIES_EXPORT,
	    memory_export_line, on_export),
	BARE("memories_forget", "DELETE", WIRE_HTTP_MEMORIES_FORGET,
	    memories_forgotten, on_memories_forget),
	BARE("memories_delete", "DELETE", WIRE_HTTP_MEMORIES_DELETE,
	    memories_forgotten, on_memories_delete),
	{ .name = "users_data_delete",
	    .method = "DELETE",
	    .path = WIRE_HTTP_USERS_DATA_DELETE,
	    .reply = &wire_user_data_deleted_desc,
	    .fn = on_user_data_delete,
	    .deadline_ms = DELETE_ALL_MS },
	BARE("users_profile_get", "GET", WIRE_HTTP_USERS_PROFILE_GET,
	    memory_profile_reply, on_user_profile_get),
	BODY("users_profile_patch", "PATCH", WIRE_HTTP_USERS_PROFILE_PATCH,
	    profile_patch, memory_profile_reply, on_user_profile_patch),
	{ .name = "runs_start",
	    .method = "POST",
	    .path = WIRE_HTTP_RUNS_START,
	    .request = &wire_run_start_request_desc,
	    .reply = &wire_run_desc,
	    .fn = on_runs_start,
	    .deadline_ms = DEADLINE_MS },
	BARE("runs_list", "GET", WIRE_HTTP_RUNS_LIST, run_list, on_runs_list),
	BARE("runs_get", "GET", WIRE_HTTP_RUNS_GET, run_record, on_runs_get),
	BARE("runs_delete", "DELETE", WIRE_HTTP_RUNS_DELETE, ok_response,
	    on_runs_delete),
	BARE("runs_events", "GET", WIRE_HTTP_RUNS_EVENTS, chat_event,
	    on_runs_events),
	BARE("runs_rasp", "GET", WIRE_HTTP_RUNS_RASP, rasp_event, on_runs_rasp),
	BODY("runs_reply", "POST", WIRE_HTTP_RUNS_REPLY, interaction_reply, run,
	    on_runs_reply),
	BARE("runs_cancel", "POST", WIRE_HTTP_RUNS_CANCEL, run_cancel_reply,
	    on_runs_cancel),
	BARE("runs_logs", "GET", WIRE_HTTP_RUNS_LOGS, run_log_range,
	    on_runs_logs),
	BARE("runs_files", "GET", WIRE_HTTP_RUNS_FILES, run_files,
	    on_runs_files),
	BARE("runs_file", "GET", WIRE_HTTP_RUNS_FILE, run_file_range,
	    on_runs_file),
	BARE("engines_list", "GET", WIRE_HTTP_ENGINES_LIST, engine_list,
	    on_engines_list),
	BARE("mcp_servers_list", "GET", WIRE_HTTP_MCP_SERVERS_LIST,
	    mcp_server_list, on_mcp_servers_list),
	BARE("mcp_servers_get", "GET", WIRE_HTTP_MCP_SERVERS_GET, mcp_server,
	    on_mcp_servers_get),
	BODY("mcp_servers_put", "PUT", WIRE_HTTP_MCP_SERVERS_PUT,
	    mcp_server_settings, mcp_server, on_mcp_servers_put),
	BARE("mcp_servers_delete", "DELETE", WIRE_HTTP_MCP_SERVERS_DELETE,
	    ok_response, on_mcp_servers_delete),
	BARE("mcp_servers_restart", "POST", WIRE_HTTP_MCP_SERVERS_RESTART,
	    ok_response, on_mcp_servers_restart),
	BARE("mcp_tools_list", "GET", WIRE_HTTP_MCP_TOOLS_LIST, mcp_tool_list,
	    on_mcp_tools_list),
	BODY("mcp_grants_put", "PUT", WIRE_HTTP_MCP_GRANTS_PUT, mcp_grant_body,
	    mcp_grant, on_mcp_grants_put),
	BARE("mcp_grants_delete", "DELETE", WIRE_HTTP_MCP_GRANTS_DELETE,
	    ok_response, on_mcp_grants_delete),
	BARE("evolutions_list", "GET", WIRE_HTTP_EVOLUTIONS_LIST,
	    evolution_list, on_evolutions_list),
	BARE("evolutions_get", "GET", WIRE_HTTP_EVOLUTIONS_GET, evolution,
	    on_evolutions_get),
	BARE("evolutions_approve", "POST", WIRE_HTTP_EVOLUTIONS_APPROVE,
	    evolution, on_evolutions_approve),
	BARE("evolutions_refuse", "POST", WIRE_HTTP_EVOLUTIONS_REFUSE,
	    evolution, on_evolutions_refuse),
	BARE("evolutions_enable", "POST", WIRE_HTTP_EVOLUTIONS_ENABLE,
	    evolution, on_evolutions_enable),
	BARE("evolutions_disable", "POST", WIRE_HTTP_EVOLUTIONS_DISABLE,
	    evolution, on_evolutions_disable),
	BARE("alarms_list", "GET", WIRE_HTTP_ALARMS_LIST, alarm_list,
	    on_alarms_list),
	BODY("alarms_set", "POST", WIRE_HTTP_ALARMS_SET, alarm_new, alarm_reply,
	    on_alarms_set),
	BARE("alarms_get", "GET", WIRE_HTTP_ALARMS_GET, alarm, on_alarms_get),
	BODY("alarms_change", "PATCH", WIRE_HTTP_ALARMS_CHANGE, alarm_edit,
	    alarm_reply, on_alarms_change),
	BARE("alarms_cancel", "DELETE", WIRE_HTTP_ALARMS_CANCEL, alarm_list,
	    on_alarms_cancel),
	BODY("alarms_snooze", "POST", WIRE_HTTP_ALARMS_SNOOZE,
	    alarm_snooze_body, alarm_reply, on_alarms_snooze),
	BODY("terminals_speak", "POST", WIRE_HTTP_TERMINALS_SPEAK, speech_body,
	    speak_reply, on_terminals_speak),
	BODY("users_speak", "POST", WIRE_HTTP_USERS_SPEAK, speech_body,
	    speak_reply, on_users_speak),
	BODY("terminals_notice", "POST", WIRE_HTTP_TERMINALS_NOTICE, notice,
	    speak_reply, on_terminals_notice),
	BARE("pushes_get", "GET", WIRE_HTTP_PUSHES_GET, push, on_pushes_get),
	BODY("souls_change", "PATCH", WIRE_HTTP_SOULS_CHANGE,
	    soul_change_request, soul, on_souls_change),
	BARE("webhooks_list", "GET", WIRE_HTTP_WEBHOOKS_LIST, webhook_list,
	    on_webhooks_list),
	BODY("webhooks_create", "POST", WIRE_HTTP_WEBHOOKS_CREATE, webhook_new,
	    webhook, on_webhooks_create),
	BARE("webhooks_get", "GET", WIRE_HTTP_WEBHOOKS_GET, webhook,
	    on_webhooks_get),
	BARE("webhooks_delete", "DELETE", WIRE_HTTP_WEBHOOKS_DELETE,
	    ok_response, on_webhooks_delete),
	BARE("webhooks_redeliver", "POST", WIRE_HTTP_WEBHOOKS_REDELIVER,
	    webhook, on_webhooks_redeliver),
	BARE("tool_content_get", "GET", WIRE_HTTP_TOOL_CONTENT_GET,
	    tool_content, on_tool_content_get),
};

enum rc
routes_put_error(const struct svc_route *r, const struct wire_error *e,
    int status, struct buf *out)
{
	if (r->fn == on_openai_chat || r->fn == on_openai_models)
		return openai_write_error(e, status, out);
	return RC_NOENT;
}
