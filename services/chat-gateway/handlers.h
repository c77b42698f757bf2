/*
 * handlers: the routes of chat-gateway.  app is a struct gateway; a handler
 * ends c, at once or later.
 */
#ifndef CHAT_GATEWAY_HANDLERS_H
#define CHAT_GATEWAY_HANDLERS_H

#include "svc/svc.h"

#define ROUTES_N 97
extern const struct svc_route routes[ROUTES_N];

struct buf;
struct wire_error;

/* routes_put_error(): See struct svc_def. */
enum rc routes_put_error(const struct svc_route *r, const struct wire_error *e,
    int status, struct buf *out) RC_CHECK;

/* chat/ */
void on_chat(void *app, struct svc_call *c);
void on_turns_list(void *app, struct svc_call *c);
void on_turns_get(void *app, struct svc_call *c);
void on_turns_cancel(void *app, struct svc_call *c);
/* agui/ */
void on_agui_run(void *app, struct svc_call *c);
/* soul_mcp/ */
void on_soul_mcp(void *app, struct svc_call *c);
/* openai/ */
void on_openai_chat(void *app, struct svc_call *c);
void on_openai_models(void *app, struct svc_call *c);
void on_openai_responses_create(void *app, struct svc_call *c);
void on_openai_responses_get(void *app, struct svc_call *c);
void on_openai_responses_cancel(void *app, struct svc_call *c);
/* souls/ */
void on_souls_list(void *app, struct svc_call *c);
void on_souls_create(void *app, struct svc_call *c);
void on_souls_delete(void *app, struct svc_call *c);
void on_souls_change(void *app, struct svc_call *c);
void on_soul_star_enter(void *app, struct svc_call *c);
void on_soul_star_get(void *app, struct svc_call *c);
void on_soul_star_leave(void *app, struct svc_call *c);
void on_emotion(void *app, struct svc_call *c);
void on_emotion_history(void *app, struct svc_call *c);
void on_star_environments(void *app, struct svc_call *c);
void on_star_environment_members(void *app, struct svc_call *c);
void on_star_environment_events(void *app, struct svc_call *c);
void on_star_client_kick(void *app, struct svc_call *c);
/* terminals/ */
void on_souls_select(void *app, struct svc_call *c);
void on_terminals_list(void *app, struct svc_call *c);
void on_terminals_get(void *app, struct svc_call *c);
void on_terminals_reports(void *app, struct svc_call *c);
void on_terminals_invoke(void *app, struct svc_call *c);
void on_intents_filter(void *app, struct svc_call *c);
void on_emotion_analyze(void *app, struct svc_call *c);
void on_emotion_convert(void *app, struct svc_call *c);
void on_emotion_pad_table(void *app, struct svc_call *c);
void on_terminals_unbind(void *app, struct svc_call *c);
void on_terminals_mint(void *app, struct svc_call *c);
void on_terminals_rotate(void *app, struct svc_call *c);
void on_terminals_revoke(void *app, struct svc_call *c);
void on_identities_list(void *app, struct svc_call *c);
/* memories/ */
void on_memories_list(void *app, struct svc_call *c);
void on_memories_forget(void *app, struct svc_call *c);
void on_memories_delete(void *app, struct svc_call *c);
void on_export(void *app, struct svc_call *c);
void on_user_profile_get(void *app, struct svc_call *c);
void on_user_profile_patch(void *app, struct svc_call *c);
void on_interactions(void *app, struct svc_call *c);
void on_sessions_reply(void *app, struct svc_call *c);
void on_sessions_list(void *app, struct svc_call *c);
void on_sessions_messages(void *app, struct svc_call *c);
void on_sessions_delete(void *app, struct svc_call *c);
/* users/ */
void on_me(void *app, struct svc_call *c);
void on_status(void *app, struct svc_call *c);
void on_user_data_delete(void *app, struct svc_call *c);
/* runs/ */
void on_runs_start(void *app, struct svc_call *c);
void on_runs_list(void *app, struct svc_call *c);
void on_runs_get(void *app, struct svc_call *c);
void on_runs_delete(void *app, struct svc_call *c);
void on_runs_events(void *app, struct svc_call *c);
void on_runs_rasp(void *app, struct svc_call *c);
void on_runs_reply(void *app, struct svc_call *c);
void on_runs_cancel(void *app, struct svc_call *c);
void on_runs_logs(void *app, struct svc_call *c);
void on_runs_files(void *app, struct svc_call *c);
void on_runs_file(void *app, struct svc_call *c);
void on_engines_list(void *app, struct svc_call *c);
/* mcp/ */
void on_mcp_servers_list(void *app, struct svc_call *c);
void on_mcp_servers_get(void *app, struct svc_call *c);
void on_mcp_servers_put(void *app, struct svc_call *c);
void on_mcp_servers_delete(void *app, struct svc_call *c);
void on_mcp_servers_restart(void *app, struct svc_call *c);
void on_mcp_tools_list(void *app, struct svc_call *c);
void on_mcp_grants_put(void *app, struct svc_call *c);
void on_mcp_grants_delete(void *app, struct svc_call *c);
void on_tool_content_get(void *app, struct svc_call *c);
/* evolutions/ */
void on_evolutions_list(void *app, struct svc_call *c);
void on_evolutions_get(void *app, struct svc_call *c);
void on_evolutions_approve(void *app, struct svc_call *c);
void on_evolutions_reject(void *app, struct svc_call *c);
void on_evolutions_enable(void *app, struct svc_call *c);
void on_evolutions_disable(void *app, struct svc_call *c);
/* speech/ */
void on_alarms_list(void *app, struct svc_call *c);
void on_alarms_set(void *app, struct svc_call *c);
void on_alarms_get(void *app, struct svc_call *c);
void on_alarms_change(void *app, struct svc_call *c);
void on_alarms_cancel(void *app, struct svc_call *c);
void on_alarms_snooze(void *app, struct svc_call *c);
void on_terminals_speak(void *app, struct svc_call *c);
void on_users_speak(void *app, struct svc_call *c);
void on_terminals_notice(void *app, struct svc_call *c);
void on_pushes_get(void *app, struct svc_call *c);
/* webhooks/ */
void on_webhooks_list(void *app, struct svc_call *c);
void on_webhooks_create(void *app, struct svc_call *c);
void on_webhooks_get(void *app, struct svc_call *c);
void on_webhooks_delete(void *app, struct svc_call *c);
void on_webhooks_redeliver(void *app, struct svc_call *c);
/* streams/ */
void on_events(void *app, struct svc_call *c);
/* live/ */
void on_events_list(void *app, struct svc_call *c);
void on_live(void *app, struct svc_call *c);

/* on_drain(app): As svc_def.drain: end all event streams, admit no more. */
void on_drain(void *app);

/* The command line: chat-gateway migrate. */
extern const struct svc_command migrate_command;

#endif /* !CHAT_GATEWAY_HANDLERS_H */
