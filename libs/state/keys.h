/*
 * keys: every Redis key and what lies there, written down once.
 *
 * '%' is an id's token (state_key()).  Where scripts compute keys, a pattern is
 * made of what stands before and behind the token.  Tokens are also what
 * records refer to each other by, so that a script can go on from one to the
 * next.
 *
 * A hash has its format version in the field "v"; the version also covers what
 * belongs to the hash (its list of messages, its state, …).  What belongs to no
 * hash has it at the end of its name, a result and a state in their first byte.
 */
#ifndef STATE_KEYS_H
#define STATE_KEYS_H

/* lease: string: its holder, expires; string: the newest epoch. */
#define KEY_LEASE       "soul:lease:{%}:1"
#define KEY_LEASE_EPOCH "soul:lease:{%}:epoch:1"

/*
 * terminal: hash: on (0, 1), seen (ms), b (broker's id), e:<broker's id>
 * (epoch), sv sk hint (skills), cv ct ch (catalog), u s (binding, tokens), ref
 * (refusal). Results: string: first byte, JSON or note; expires.
 */
#define TERMINAL_FORMAT   "1"
#define KEY_TERMINAL_PRE  "soul:terminal:{"
#define KEY_TERMINAL_POST "}"
#define KEY_TERMINAL      KEY_TERMINAL_PRE "%" KEY_TERMINAL_POST
#define KEY_RESULT        "soul:result:{%:%}"
/* First bytes of a result that came and of one that is expected; its life. */
#define RESULT_FORMAT "1"
#define RESULT_ASKED  "?"
#define RESULT_MS     "600000"

/* Sets of terminals' tokens: bound by a user, bound to a soul. */
#define KEY_BOUND_PRE      "soul:user:{"
#define KEY_BOUND_POST     "}:terminals:1"
#define KEY_USER_TERMINALS KEY_BOUND_PRE "%" KEY_BOUND_POST
#define KEY_BODIES_PRE     "soul:soul:{"
#define KEY_BODIES_POST    "}:terminals:1"
#define KEY_BODIES         KEY_BODIES_PRE "%" KEY_BODIES_POST

/*
 * credential: hash: ten u (tenant and user, tokens), h (hash of the password),
 * created, changed (ms), gone (1: revoked).  Sorted sets of terminals' tokens,
 * all with the score 0: all of them, those of a tenant.  String: counts the
 * changes.
 */
#define CREDENTIAL_FORMAT         "1"
#define KEY_CREDENTIAL_PRE        "soul:credential:{"
#define KEY_CREDENTIAL_POST       "}"
#define KEY_CREDENTIAL            KEY_CREDENTIAL_PRE "%" KEY_CREDENTIAL_POST
#define KEY_CREDENTIALS           "soul:credentials:1"
#define KEY_CREDENTIALS_VERSION   "soul:credentials:version:1"
#define KEY_TENANT_TERMINALS_PRE  "soul:tenant:{"
#define KEY_TENANT_TERMINALS_POST "}:credentials:1"
#define KEY_TENANT_TERMINALS \
	KEY_TENANT_TERMINALS_PRE "%" KEY_TENANT_TERMINALS_POST

/*
 * soul: hash: u (user's token), name, mbti, model, created (ms).
 * State: string: format byte, version (8 bytes, big endian), the state.  Log:
 * stream: field e; expires.
 */
#define SOUL_FORMAT    "1"
#define KEY_SOUL_PRE   "soul:soul:{"
#define KEY_SOUL_POST  "}"
#define KEY_SOUL       KEY_SOUL_PRE "%" KEY_SOUL_POST
#define KEY_SOUL_STATE "soul:soul:{%}:state"
#define KEY_SOUL_LOG   "soul:soul:{%}:log:1"
/* What stands before and behind the token in the state's key. */
#define KEY_SOUL_STATE_POST "}:state"

/* Sorted set: a user's souls by time of creation; hash: name → token. */
#define KEY_USER_SOULS      "soul:user:{%}:souls:1"
#define KEY_USER_SOUL_NAMES "soul:user:{%}:soul_names:1"

/* Sorted set: souls that tick by when they do; string: the interval (ms). */
#define KEY_TICKS         "soul:ticks:1"
#define KEY_TICK_INTERVAL "soul:ticks:interval:1"

/*
 * session: hash: soul, term (ids), sum, sumn (summary), job (to be published),
 * active, due (ms), claims (of the stretch), last (the newest message's
 * number), late (what turns have left open), early (sumn:ms, when a summary was
 * asked for), seq (the newest event's), bytes (of all messages), chars
 * (sumn:last:characters of the messages after sumn; what was counted for
 * another sumn or last does not count).  Messages: list: the newest at its end.
 * Events: stream: 0-<seq>: e (JSON), or lost (turn's token) and at (ms);
 * expires.  Retry: string: the turn's token; expires; behind the key comes the
 * digest of what was said.
 */
#define SESSION_FORMAT       "1"
#define KEY_SESSION_PRE      "soul:session:{"
#define KEY_SESSION_POST     "}"
#define KEY_SESSION          KEY_SESSION_PRE "%:%" KEY_SESSION_POST
#define KEY_MESSAGES_POST    "}:messages"
#define KEY_SESSION_MESSAGES KEY_SESSION_PRE "%:%" KEY_MESSAGES_POST
#define KEY_EVENTS_POST      "}:events:1"
#define KEY_SESSION_EVENTS   KEY_SESSION_PRE "%:%" KEY_EVENTS_POST
#define KEY_SESSION_RETRY    "soul:session:{%:%}:retry:1:"
/* Bytes of messages that a session keeps; the oldest fall out. */
#define MESSAGES_BYTES "8388608"
/* About how many events are kept, and for how long after the newest. */
#define EVENTS_KEPT "1000"
#define EVENTS_MS   "3600000"
/* How long what was said is known to have been said. */
#define RETRY_MS "600000"

/* Sorted set: sessions (user:session, tokens) by when they fall idle. */
#define KEY_IDLE "soul:idle:1"

/* Sorted set: a user's sessions (tokens) by their last input (ms). */
#define KEY_USER_SESSIONS_PRE  "soul:user:{"
#define KEY_USER_SESSIONS_POST "}:sessions:1"
#define KEY_USER_SESSIONS      KEY_USER_SESSIONS_PRE "%" KEY_USER_SESSIONS_POST
/*
 * Sessions of a user; of more, those that have been silent longest are deleted,
 * two at each input, once they are summed up or there are twice as many.
 */
#define SESSIONS_KEPT "1000"

/*
 * turn: list: instance:turn, tokens; string: expires with its process.
 * Record: hash: u s i (user, session, instance, tokens), trace, at (ms), begun
 * (1), again (the key of its retries), end (the last turn_reply, JSON; empty:
 * lost), tl (timeline, JSON); expires.
 */
#define TURN_FORMAT       "1"
#define KEY_TURN_PRE      "soul:turn:{"
#define KEY_TURN_POST     "}"
#define KEY_TURN          KEY_TURN_PRE "%" KEY_TURN_POST
#define TURN_MS           "3600000"
#define KEY_TURNS_POST    "}:turns:1"
#define KEY_TURNS         KEY_SESSION_PRE "%:%" KEY_TURNS_POST
#define KEY_INSTANCE_PRE  "soul:instance:{"
#define KEY_INSTANCE_POST "}:1"
#define KEY_INSTANCE      KEY_INSTANCE_PRE "%" KEY_INSTANCE_POST

/*
 * memory: hash: ver (changes with each change), seq (counts the puts), cleared
 * (ms).  Items: hash: id → JSON; sorted sets: ids by their seq; forgotten ids
 * by when (ms), expires; hash: id → vector, of those that have one.  Past:
 * sorted set: ids by until when they held (ms); hash: id → JSON.
 */
#define MEMORY_FORMAT         "1"
#define KEY_MEMORY            "soul:memory:{%:%}"
#define KEY_MEMORY_ITEMS      "soul:memory:{%:%}:items"
#define KEY_MEMORY_ORDER      "soul:memory:{%:%}:order"
#define KEY_MEMORY_GONE       "soul:memory:{%:%}:gone"
#define KEY_MEMORY_VECS       "soul:memory:{%:%}:vectors"
#define KEY_MEMORY_PAST       "soul:memory:{%:%}:past"
#define KEY_MEMORY_PAST_ITEMS "soul:memory:{%:%}:past_items"

/*
 * profile: hash: low (ms; what is older counts no more), and the leaves of a
 * document by their JSON Pointers: "<ms> <JSON>", or "<ms> " of one that was
 * removed; expires if none is left.
 */
#define PROFILE_FORMAT "1"
#define KEY_PROFILE    "soul:profile:{%}"

#endif /* !STATE_KEYS_H */
