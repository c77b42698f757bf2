/* The rules of a history: what must be found wrong, and what must not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/chaos.h"
#include "testkit/testkit.h"

#define BODY "lamp"

static struct chaos *h;

/* Check h; *text (may be NULL) has what is printed, freed by the caller. */
static size_t
wrong(char **text)
{
	char *out = NULL;
	size_t size = 0, n;
	FILE *f = open_memstream(&out, &size);

	ck_assert_ptr_nonnull(f);
	n = chaos_check(h, f);
	(void)fclose(f);
	if (text != NULL)
		*text = out;
	else
		free(out);
	return n;
}

static void
ck_sound(void)
{
	char *text;
	size_t n = wrong(&text);

	ck_assert_msg(n == 0, "%s", text);
	free(text);
	chaos_free(h);
}

/* Exactly one thing is wrong, which is reported with these words. */
static void
ck_wrong(const char *words)
{
	char *text;
	size_t n = wrong(&text);

	ck_assert_msg(
	    n == 1 && strstr(text, words) != NULL, "%zu: %s", n, text);
	free(text);
	chaos_free(h);
}

/* ---- a turn and what is stored of it ---- */

static void
message(const char *role, const char *content, const char *turn)
{
	chaos_message(h, "s", &(struct chaos_message){ role, content, turn });
}

static void
stored_input(int input, const char *turn)
{
	char text[64];

	chaos_text(input, "x", text, sizeof(text));
	message("user", text, turn);
}

static void
stored(int input, const char *turn)
{
	stored_input(input, turn);
	message("assistant", "yes", turn);
}

static int64_t next_seq;

static void
event(const char *turn, const char *type)
{
	chaos_event(h, "s", &(struct chaos_event){ ++next_seq, turn, type });
}

static void
recorded(const char *turn, const char *state, int attempt)
{
	char trace[CHAOS_TRACE_MAX];

	chaos_trace(attempt, trace);
	chaos_record(h, turn, state, trace);
}

static void
events(const char *turn, bool completed)
{
	event(turn, "conversation.started");
	event(
	    turn, completed ? "conversation.completed" : "conversation.failed");
}

static int
sent(int64_t at, int input)
{
	return chaos_send(h, at, input);
}

static void
ended(int64_t at, int attempt, enum chaos_end end, const char *turn)
{
	chaos_result(h, at, attempt,
	    &(struct chaos_result){ .end = end,
		.status = end == CHAOS_DONE ? 200 : 502,
		.turn_id = turn,
		.reply = end == CHAOS_DONE ? "yes" : NULL });
}

/* An input that was acknowledged, sent and ended at these times. */
static int
done(int64_t from, int64_t to, const char *turn)
{
	int input = chaos_input(h, from, "s", BODY);
	int attempt = sent(from, input);

	ended(to, attempt, CHAOS_DONE, turn);
	recorded(turn, "completed", attempt);
	events(turn, true);
	return input;
}

/* One that ended otherwise; *attempt may be NULL. */
static int
lost(enum chaos_end end, int *attempt)
{
	int input = chaos_input(h, 1000, "s", BODY);
	int a = sent(1000, input);

	ended(2000, a, end, NULL);
	recorded("t", end == CHAOS_CANCELED ? "canceled" : "lost", a);
	events("t", false);
	if (attempt != NULL)
		*attempt = a;
	return input;
}

static void
begin(void)
{
	h = chaos_new();
	next_seq = 0;
}

TEST(turns_that_are_stored_in_order_are_sound)
{
	int a, b;

	begin();
	a = done(0, 10, "t1");
	b = done(20, 30, "t2");
	stored(a, "t1");
	stored(b, "t2");
	ck_sound();
}

TEST(an_acknowledged_input_that_is_not_stored_is_lost)
{
	int input;

	begin();
	input = done(0, 10, "t1");
	(void)input;
	message("assistant", "yes", "t1");
	ck_wrong("input 0 is lost");
}

TEST(an_acknowledged_reply_that_is_not_stored_is_lost)
{
	begin();
	stored_input(done(0, 10, "t1"), "t1");
	ck_wrong("the reply to input 0 is stored 0 times");
}

TEST(an_input_must_not_be_stored_twice)
{
	int input;

	begin();
	input = done(0, 10, "t1");
	stored(input, "t1");
	stored_input(input, "t1");
	ck_wrong("input 0 is stored 2 times");
}

TEST(a_reply_must_not_be_stored_twice)
{
	begin();
	stored(done(0, 10, "t1"), "t1");
	message("assistant", "yes", "t1");
	ck_wrong("the reply to input 0 is stored 2 times");
}

TEST(a_message_must_have_been_sent)
{
	begin();
	stored(done(0, 10, "t1"), "t1");
	message("user", "第7句：x", "t1");
	ck_wrong("has a message that nobody sent: 第7句：x");
}

TEST(an_unacknowledged_input_may_be_stored_or_not)
{
	int input;

	begin();
	(void)lost(CHAOS_OPEN, NULL);
	ck_sound();
	begin();
	input = lost(CHAOS_OPEN, NULL);
	stored_input(input, "t");
	ck_sound();
}

TEST(an_unacknowledged_input_must_not_be_stored_twice)
{
	int input;

	begin();
	input = lost(CHAOS_OPEN, NULL);
	stored_input(input, "t");
	stored_input(input, "t");
	ck_wrong("input 0 is stored 2 times");
}

TEST(an_acknowledged_input_is_before_what_is_sent_after_it)
{
	int a, b;

	begin();
	a = done(0, 10, "t1");
	b = done(20, 30, "t2");
	stored(b, "t2");
	stored(a, "t1");
	ck_wrong("input 1 is stored before input 0");
}

TEST(inputs_that_overlap_have_any_order)
{
	int a, b;

	begin();
	a = done(0, 25, "t1");
	b = done(20, 30, "t2");
	stored(b, "t2");
	stored(a, "t1");
	ck_sound();
}

/* ---- events and records ---- */

TEST(a_turn_must_have_an_end)
{
	begin();
	recorded("t", "completed", CHAOS_OPEN);
	event("t", "conversation.started");
	ck_wrong("turn t has no end among its events");
}

TEST(a_turn_must_not_have_two_ends)
{
	begin();
	stored(done(0, 10, "t1"), "t1");
	event("t1", "conversation.failed");
	ck_wrong("has the event 3, conversation.failed, after its end");
}

TEST(a_turn_begins_with_its_start)
{
	begin();
	recorded("t", "failed", 0);
	event("t", "conversation.failed");
	ck_wrong("has the event 1, conversation.failed, before its start");
}

TEST(a_turn_that_was_canceled_while_it_waited_has_no_start)
{
	begin();
	recorded("t", "canceled", 0);
	event("t", "conversation.failed");
	ck_sound();
}

TEST(a_turn_has_one_start)
{
	begin();
	recorded("t", "failed", 0);
	event("t", "conversation.started");
	event("t", "conversation.started");
	event("t", "conversation.failed");
	ck_wrong("has the event 2, conversation.started, after its start");
}

TEST(events_have_consecutive_numbers)
{
	begin();
	recorded("t", "completed", 0);
	event("t", "conversation.started");
	next_seq++;
	event("t", "conversation.completed");
	ck_wrong("event 3 follows event 1");
}

TEST(a_turn_with_events_has_a_record)
{
	begin();
	event("t", "conversation.started");
	ck_wrong("turn t has no record");
}

TEST(a_record_must_have_ended)
{
	begin();
	recorded("t", "running", 0);
	ck_wrong("turn t has not ended");
}

TEST(a_record_ends_as_its_events_do)
{
	begin();
	recorded("t", "lost", 0);
	events("t", true);
	ck_wrong("turn t is lost, but its events end otherwise");
}

TEST(an_acknowledged_turn_is_recorded_as_completed)
{
	int input, attempt;

	begin();
	input = chaos_input(h, 0, "s", NULL);
	attempt = sent(0, input);
	ended(10, attempt, CHAOS_DONE, "t");
	recorded("t", "lost", attempt);
	events("t", false);
	stored(input, "t");
	ck_wrong("was acknowledged, but its turn t is lost");
}

TEST(an_input_must_not_be_completed_by_two_turns)
{
	int input, first, second;

	begin();
	input = chaos_input(h, 0, "s", NULL);
	first = sent(0, input);
	ended(10, first, CHAOS_OPEN, NULL);
	second = sent(20, input);
	ended(30, second, CHAOS_DONE, "t2");
	recorded("t1", "completed", first);
	recorded("t2", "completed", second);
	events("t1", true);
	events("t2", true);
	stored(input, "t2");
	ck_wrong("input 0 was completed by 2 turns");
}

/* ---- commands ---- */

static void
published(int64_t at, int attempt, const char *id)
{
	char trace[CHAOS_TRACE_MAX];

	chaos_trace(attempt, trace);
	chaos_publish(h, at, trace, id);
}

static void
delivered(int64_t at, const char *id)
{
	json_t *skills = json_pack("[s]", "shine");

	chaos_deliver(h, at, &(struct chaos_delivery){ BODY, id, "s", skills });
	json_decref(skills);
}

static void
commanded(int64_t at, int attempt, const char *id)
{
	published(at, attempt, id);
	delivered(at, id);
}

/* An acknowledged input whose response says that the skill was executed. */
static int
executed(int64_t from, int64_t to)
{
	int input = chaos_input(h, from, "s", BODY);
	int attempt = sent(from, input);
	json_t *skills = json_pack("[s]", "shine");

	chaos_result(h, to, attempt,
	    &(struct chaos_result){ CHAOS_DONE, 200, "t", "yes", skills });
	json_decref(skills);
	recorded("t", "completed", attempt);
	events("t", true);
	stored(input, "t");
	return attempt;
}

TEST(an_executed_skill_that_was_received_is_sound)
{
	begin();
	commanded(1005, executed(1000, 1010), "r1");
	ck_sound();
}

TEST(an_executed_skill_must_have_been_received)
{
	begin();
	(void)executed(1000, 1010);
	ck_wrong("shine was executed, but lamp has not received it");
}

TEST(what_was_received_before_does_not_count_as_executed)
{
	begin();
	published(900, -2, "r0");
	delivered(900, "r0");
	(void)executed(1000, 1010);
	ck_wrong("shine was executed, but lamp has not received it");
}

TEST(a_command_that_was_not_seen_on_its_way_counts_by_its_time)
{
	begin();
	(void)executed(1000, 1010);
	delivered(1005, "r1");
	ck_sound();
}

TEST(a_broken_connection_may_lose_what_was_executed)
{
	begin();
	(void)executed(1000, 1010);
	chaos_disconnected(h, 1005, BODY);
	ck_sound();
}

TEST(a_command_must_not_come_twice)
{
	begin();
	commanded(1005, executed(1000, 1010), "r1");
	delivered(1006, "r1");
	ck_wrong("received command r1 twice");
}

TEST(an_input_must_not_be_acted_upon_twice)
{
	int attempt;

	begin();
	attempt = executed(1000, 1010);
	commanded(1005, attempt, "r1");
	commanded(1006, attempt, "r2");
	ck_wrong("input 0 was acted upon 2 times");
}

TEST(a_lost_turn_without_a_command_must_not_act_before)
{
	int attempt;

	begin();
	(void)lost(CHAOS_LOST, &attempt);
	commanded(1500, attempt, "r1");
	ck_wrong("was lost without a command, but lamp received r1");
}

/* Its client gave it up, and tried again; that turn was lost. */
TEST(a_retry_may_be_lost_after_a_turn_that_acted_and_was_completed)
{
	int input, first, second;

	begin();
	input = chaos_input(h, 0, "s", BODY);
	first = sent(0, input);
	ended(20, first, CHAOS_OPEN, NULL);
	commanded(10, first, "r1");
	second = sent(1000, input);
	ended(2000, second, CHAOS_LOST, NULL);
	recorded("t", "completed", first);
	events("t", true);
	ck_sound();
}

/* The third try finds that the first one's turn was lost, too. */
TEST(a_retry_may_be_lost_after_a_turn_that_acted_and_was_lost)
{
	int input, first, second;

	begin();
	input = chaos_input(h, 0, "s", BODY);
	first = sent(0, input);
	ended(20, first, CHAOS_OPEN, NULL);
	commanded(10, first, "r1");
	second = sent(1000, input);
	ended(2000, second, CHAOS_LOST, NULL);
	ended(2100, sent(2050, input), CHAOS_LOST_ACTED, NULL);
	ck_sound();
}

TEST(a_lost_turn_must_not_act_afterwards)
{
	int attempt;

	begin();
	(void)lost(CHAOS_LOST_ACTED, &attempt);
	commanded(2000 + CHAOS_SLACK_MS + 1, attempt, "r1");
	ck_wrong("ms after the end of attempt 0");
}

TEST(a_lost_turn_may_have_acted_before)
{
	int attempt;

	begin();
	(void)lost(CHAOS_LOST_ACTED, &attempt);
	commanded(1500, attempt, "r1");
	ck_sound();
}

TEST(a_command_of_an_earlier_attempt_counts_for_a_later_end)
{
	int input, first, second;

	begin();
	input = chaos_input(h, 0, "s", BODY);
	first = sent(0, input);
	ended(10, first, CHAOS_OPEN, NULL);
	second = sent(20, input);
	ended(30, second, CHAOS_LOST, NULL);
	recorded("t", "lost", first);
	events("t", false);
	commanded(5, first, "r1");
	ck_wrong("attempt 1 was lost without a command");
}

TEST(a_command_of_a_later_attempt_is_its_own)
{
	int input, first, second;

	begin();
	input = chaos_input(h, 0, "s", BODY);
	first = sent(0, input);
	ended(10, first, CHAOS_LOST, NULL);
	second = sent(20, input);
	ended(5000, second, CHAOS_DONE, "t2");
	recorded("t1", "lost", first);
	recorded("t2", "completed", second);
	events("t1", false);
	events("t2", true);
	stored(input, "t2");
	commanded(4000, second, "r1");
	ck_sound();
}

TEST(what_a_stopped_server_held_may_come_after_the_end)
{
	int attempt;

	begin();
	(void)lost(CHAOS_LOST_ACTED, &attempt);
	chaos_outage(h, 1500, "broker stopped");
	chaos_outage_end(h, 6000, true);
	commanded(6000, attempt, "r1");
	ck_sound();
}

TEST(what_a_killed_server_had_must_not_come_after_the_end)
{
	int attempt;

	begin();
	(void)lost(CHAOS_LOST_ACTED, &attempt);
	chaos_outage(h, 1500, "broker killed");
	chaos_outage_end(h, 6000, false);
	commanded(6000, attempt, "r1");
	ck_wrong("ms after the end of attempt 0");
}

TEST(a_canceled_turn_must_not_act_afterwards)
{
	int input, attempt;

	begin();
	input = chaos_input(h, 0, "s", BODY);
	attempt = sent(0, input);
	chaos_canceled(h, 10, attempt);
	ended(20, attempt, CHAOS_OPEN, NULL);
	recorded("t", "canceled", attempt);
	events("t", false);
	commanded(10 + CHAOS_SLACK_MS + 1, attempt, "r1");
	ck_wrong("after the turn was canceled");
}

/* ---- other writes ---- */

static void
put(int64_t at, const char *value, bool acknowledged)
{
	int w = chaos_write(h, at, "binding of lamp", value);

	if (acknowledged)
		chaos_written(h, at, w);
}

static void
found(const char *value)
{
	chaos_read(h, "binding of lamp", value);
}

TEST(a_record_has_the_value_that_was_acknowledged_last)
{
	begin();
	put(1, "a", true);
	put(2, "b", true);
	found("b");
	ck_sound();
	begin();
	put(1, "a", true);
	put(2, "b", true);
	found("a");
	ck_wrong("binding of lamp is \"a\"");
}

TEST(a_record_may_have_a_value_that_was_not_acknowledged)
{
	begin();
	put(1, "a", true);
	put(2, "b", false);
	found("b");
	ck_sound();
	begin();
	put(1, "a", true);
	put(2, "b", false);
	found("a");
	ck_sound();
}

TEST(an_acknowledged_deletion_stays)
{
	begin();
	put(1, "a", true);
	put(2, "", true);
	found("a");
	ck_wrong("binding of lamp is \"a\"");
}

TEST(a_record_must_have_been_read)
{
	begin();
	put(1, "a", true);
	ck_wrong("binding of lamp is not read");
}

TEST(a_deleted_session_has_no_messages)
{
	begin();
	(void)done(0, 10, "t1");
	chaos_forget(h, "s");
	ck_sound();
}

TEST(what_is_wrong_by_itself_is_reported)
{
	begin();
	chaos_wrong(h, 1, "a response violates its schema");
	ck_wrong("a response violates its schema");
}

TEST(a_turn_is_reported_with_its_entries_and_outages)
{
	char *text;
	int attempt;

	begin();
	chaos_outage(h, 900, "redis killed");
	(void)lost(CHAOS_LOST, &attempt);
	commanded(1500, attempt, "r1");
	ck_assert_uint_eq(wrong(&text), 1);
	ck_assert_ptr_nonnull(strstr(text, "900 fault: redis killed"));
	ck_assert_ptr_nonnull(strstr(text, "1000 s: input 0 is sent"));
	ck_assert_ptr_nonnull(strstr(text, "1500 command r1 is published"));
	ck_assert_ptr_nonnull(strstr(text, "1500 lamp receives command r1"));
	ck_assert_ptr_nonnull(strstr(text, "2000 attempt 0: 502, lost"));
	ck_assert_ptr_nonnull(strstr(text, "turn t: lost, of attempt 0"));
	free(text);
	chaos_free(h);
}
