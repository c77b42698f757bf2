/*
 * keys: every Redis key, what it holds, and the limits that scripts enforce.
 *
 * The scripts of libs/state/scripts use these names as if they were Lua
 * constants; scripts/embed.awk replaces them.  That works for a macro whose
 * value is one string or one decimal number.
 *
 * '%' is an id's token, '#' the tag of the bucket of the first id
 * (state_key()). Where a script computes a key, there is a macro for what
 * stands before the tag or token and one for what follows. Records refer to
 * each other by tokens too, so that a script can go on from one to the next.
 *
 * A hash has its format version in the field "v"; the version also covers what
 * belongs to the hash (its list of messages, its state, …).  A key that belongs
 * to no hash has the version at the end of its name; a result and a state have
 * it in their first byte.
 */
#ifndef STATE_KEYS_H
#define STATE_KEYS_H

/* String: the format of all other keys; STATE_FORMAT, or being changed. */
#define KEY_FORMAT       "soul:format"
#define FORMAT_UPGRADING "1>2"
#define FORMAT_REVERTING "2>1"

/* lease: string: its owner, expires; string: the newest epoch. */
#define KEY_LEASE       "soul:lease:{%}:2"
#define KEY_LEASE_EPOCH "soul:lease:{%}:epoch:2"

/*
 * Hash, of the deployment: boots (starts of the owner of a lease), epoch
 * (of the owner that was counted last), version (its).
 */
#define KEY_SYSTEM "soul:system:{system}:1"

/*
 * Sorted set: the replicas that share the timers of a role, by when their
 * membership ends (ms); expires.
 */
#define KEY_TIMERS          "soul:timers:{%}:1"
#define TIMER_MEMBER_TTL_MS 60000

/*
 * terminal: hash: on (0, 1), seen (ms), b (broker's id), e:<broker's id>
 * (epoch), sv sk hint (skills), cv ct ch (catalog), u s (binding, tokens), bg
 * (its generation: ms, rises), ps (the user's soul before it, token), ref:<o h
 * s c r> (last rejected report of a kind), gone (1: its identity was revoked).
 * Results: string: first byte, JSON or note; expires.
 */
#define TERMINAL_FORMAT "2"
#define KEY_TERMINAL    "soul:terminal:{%}"
#define KEY_RESULT      "soul:result:{%}:%"
/* First byte of a result that was received, and of one that is expected. */
#define RESULT_FORMAT  "1"
#define RESULT_PENDING "?"
#define RESULT_TTL_MS  600000

/*
 * Hash: the terminals that a user has bound or begun to bind, tokens: "<soul's
 * token> <ms>", when that began or was completed.
 */
#define KEY_USER_TERMINALS "soul:user:{#}:%:terminals:1"

/*
 * Hash: the terminals that are bound to a soul, tokens: "<until> <at>
 * <broker's id>": present until then (ms; 0: it is not), as of at (ms).
 */
#define KEY_BODIES_PRE  "soul:bodies:"
#define KEY_BODIES_POST ":1"
#define KEY_BODIES      "soul:bodies:{#}:%:%:1"

/* Hash: souls (tokens) whose deletion has begun: ms. */
#define KEY_USER_DELETING "soul:user:{#}:%:deleting:1"

/*
 * What is recorded in several slots is changed in steps.  One that depends on
 * the first is refused when it comes later than STEP_MAX_MS.  So what
 * the first step has left may be completed by others from STEP_DEAD_MS on.
 */
#define STEP_MAX_MS  5000
#define STEP_DEAD_MS 10000

/*
 * credential: hash: ten u (tenant and user, tokens), h (hash of the password),
 * created, changed (ms), gone (1: revoked).  Sorted sets of terminals' tokens,
 * all with the score 0: all of them, those of a tenant.  String: counts the
 * changes.  Sorted set: those that are being changed, by when that began (µs).
 */
#define CREDENTIAL_FORMAT         "1"
#define KEY_CREDENTIAL            "soul:credential:{%}"
#define KEY_CREDENTIALS           "soul:credentials:{identities}:1"
#define KEY_CREDENTIALS_VERSION   "soul:credentials:{identities}:version:1"
#define KEY_CREDENTIALS_CHANGING  "soul:credentials:{identities}:changing:1"
#define KEY_TENANT_TERMINALS_PRE  "soul:tenant:{identities}:"
#define KEY_TENANT_TERMINALS_POST ":credentials:1"
#define KEY_TENANT_TERMINALS      "soul:tenant:{identities}:%:credentials:1"

/*
 * soul: hash: u (user's token), name, mbti, model, created (ms), quiet, pro
 * (speech_settings_put), o (of a
 * guest's record: the token of the soul's own user). State: string: format
 * byte, version (8 bytes, big endian), the state.  Log: stream: field e;
 * expires.
 */
#define SOUL_FORMAT        "1"
#define KEY_SOUL_PRE       "soul:soul:"
#define KEY_SOUL           "soul:soul:{#}:%:%"
#define KEY_SOUL_STATE_PRE "soul:state:"
#define KEY_SOUL_STATE     "soul:state:{#}:%:%"
#define KEY_SOUL_LOG       "soul:log:{#}:%:%:1"

/* Sorted set: a user's souls by time of creation; hash: name → token. */
#define KEY_USER_SOULS      "soul:user:{#}:%:souls:1"
#define KEY_USER_SOUL_NAMES "soul:user:{#}:%:soul_names:1"

/*
 * Sorted set: a bucket's ticking souls (user:soul, tokens) by their next tick
 * (ms); 0: it has just begun to tick.
 */
#define KEY_TICKS "soul:ticks:{#}:1"
/* Terminals of one claim, but for the last soul. */
#define TICK_TERMINALS_MAX 1000

/*
 * session: hash: soul, term (ids), sum, sumn (summary, number of its last
 * message), job (to be published), active (ms), due (ms; identifies the idle
 * period), claims (of that period), last (number of the newest message), late
 * (what turns have left open), early (sumn:ms, when a summary of a long session
 * was requested), seq (of the newest event), refreshed (ms; when the events
 * were last given EVENTS_TTL_MS), follow (ms; until then a client reads events
 * as they come), bytes (of all messages), chars (sumn:last:characters of the
 * messages after sumn; a count made for another sumn or last is ignored).
 * Messages: list: the newest at its end. Events: stream: 0-<seq of the last>: e
 * (JSON), …, or lost (turn's token), at (ms) and acted (0, 1); expires. Retry:
 * string: the turn's token; expires; the key ends with the digest of the user's
 * input.
 */
#define SESSION_FORMAT           "1"
#define KEY_SESSION_PRE          "soul:session:"
#define KEY_SESSION              KEY_SESSION_PRE "{#}:%:%"
#define KEY_SESSION_MESSAGES_PRE "soul:messages:"
#define KEY_SESSION_MESSAGES     KEY_SESSION_MESSAGES_PRE "{#}:%:%"
#define KEY_SESSION_EVENTS_PRE   "soul:events:"
#define KEY_SESSION_EVENTS_POST  ":1"
#define KEY_SESSION_EVENTS \
	KEY_SESSION_EVENTS_PRE "{#}:%:%" KEY_SESSION_EVENTS_POST
#define KEY_SESSION_RETRY "soul:retry:{#}:%:%:1:"
/* Bytes of messages in a session; the oldest are removed. */
#define SESSION_BYTES_MAX 8388608
/* Messages that a script reads from the list at a time. */
#define SESSION_CHUNK 32
/*
 * About how many events are stored, and for how long: an hour after
 * the newest, but it is set once a minute, and not by the end of a turn that
 * was no longer than TURN_LONG_MS.
 */
#define EVENTS_MAX    1000
#define EVENTS_TTL_MS 4260000
/* Events that a script reads from the stream at a time. */
#define EVENTS_CHUNK 64
/* For how long an input with the same text counts as a retry. */
#define RETRY_TTL_MS 600000
/* A summary of the same messages is requested no sooner than after this. */
#define SUMMARY_RETRY_MS 60000

/*
 * Sorted set, of each bucket: sessions (user:session, tokens) by when they
 * become idle.
 */
#define KEY_IDLE "soul:idle:{#}:1"

/* Sorted set: a user's sessions (tokens) by their last input (ms). */
#define KEY_USER_SESSIONS "soul:user:{#}:%:sessions:1"
/*
 * Sessions of a user.  Of those beyond, the ones idle for longest are deleted,
 * two at each input, once they are summarised or there are twice as many.
 */
#define SESSIONS_MAX 1000

/*
 * turn: string: the queue's entries, instance:turn (tokens), each with a space
 * after it; expires.  String, in each bucket in which a process has turns:
 * expires with the process.
 * Record: hash: u s i (user, session, instance, tokens), trace, at (ms), begun
 * (1: its input is stored), input (token of the turn that stored the input),
 * acting (1: a terminal may have carried out an action), again (the retry key),
 * void (1: it had no effect), saved (1: the soul's state that it changed is
 * stored), end (the last turn_reply, JSON; empty: lost), tl (timeline, JSON),
 * commit (what storing the end took, us); expires.
 */
#define TURN_FORMAT  "1"
#define KEY_TURN_PRE "soul:turn:"
#define KEY_TURN     KEY_TURN_PRE "{#}:%:%"
/* From its start on; one that took longer than TURN_LONG_MS gets TURN_TTL_MS at
 * its end. */
#define TURN_BEGUN_TTL_MS 4200000
#define TURN_TTL_MS       3600000
#define TURN_LONG_MS      600000
#define KEY_TURNS_PRE     "soul:turns:"
#define KEY_TURNS_POST    ":2"
#define KEY_TURNS         KEY_TURNS_PRE "{#}:%:%" KEY_TURNS_POST
#define KEY_INSTANCE_PRE  "soul:instance:"
#define KEY_INSTANCE_POST ":1"
#define KEY_INSTANCE      KEY_INSTANCE_PRE "{#}:%" KEY_INSTANCE_POST
/*
 * Details of turns: hash: s (summary), d (details), JSON; expires.  Sorted set:
 * a user's turns that have some (tokens) by their start (ms); expires.
 */
#define TURN_DETAIL_FORMAT  "1"
#define KEY_TURN_DETAIL_PRE "soul:turndetail:"
#define KEY_TURN_DETAIL     KEY_TURN_DETAIL_PRE "{#}:%:%"
#define KEY_USER_TURNS      "soul:user:{#}:%:turns:1"
/* A queue in which nothing moves for this long expires; no turn takes so long.
 */
#define TURN_QUEUE_TTL_MS 3600000

/*
 * run: hash: u (user's token), t (tenant), engine, mode, title, spec (JSON),
 * state (as run_status_name()), attempt, runner, epoch, handle, pf pr (events
 * of this attempt in each log), ix (id of the newest question), ask (it, JSON),
 * until (ms; when a reply is missing), reply, rix (the newest reply, and its
 * question), r:<question>, k:<key's token> (of each reply: key's token or "-",
 * and the SHA-1 of its content; the question), cancel (1), facts (JSON),
 * resumes, ws (workspace), s (token of the session that is to report it),
 * created, changed, ended (ms).  Logs of its events,
 * FCMP and RASP: streams: 0-<seq>: e (JSON), b (bytes of all events up to it).
 * Workspace: hash: runs that use it: 1 (live) or 0.  All of them expire some
 * time after the end.
 */
#define RUN_FORMAT     "1"
#define KEY_RUN_PRE    "soul:run:"
#define KEY_RUN        KEY_RUN_PRE "{#}:%"
#define KEY_RUN_EVENTS "soul:run:{#}:%:events"
#define KEY_RUN_RASP   "soul:run:{#}:%:rasp"
/* Events and bytes of a log; the oldest are removed. */
#define RUN_EVENTS_MAX   20000
#define RUN_EVENTS_BYTES 16777216
/* A log is trimmed after so many events or bytes, which must be less. */
#define RUN_EVENTS_TRIM_EVERY 32
#define RUN_EVENTS_TRIM_BYTES 1048576
/* Events that a script reads from a log at a time. */
#define RUN_EVENTS_CHUNK  16
#define KEY_RUN_WORKSPACE "soul:run_workspace:{#}:%:1"
/*
 * Sorted sets: a user's runs, with the score 0; a bucket's that have not ended,
 * by when something is to be done about them (ms).  Set: those of a user that
 * are queued or running.  String: "<run> <SHA-1 of what was requested>";
 * expires.
 */
#define KEY_USER_RUNS        "soul:user:{#}:%:runs:1"
#define KEY_USER_RUNS_ACTIVE "soul:user:{#}:%:active_runs:1"
#define KEY_RUNS_DUE         "soul:runs:{#}:due:1"
#define KEY_RUN_KEY          "soul:run_key:{#}:%:%:1"
#define RUN_KEY_TTL_MS       86400000
/*
 * Hash: what has become of a user's runs, for the next turns of the sessions
 * that are to report it: "<session's token> <run>": JSON; or of any session,
 * "* <id>": what was missed (run_note_put()); expires.
 */
#define KEY_USER_RUN_NOTES_PRE  "soul:user:"
#define KEY_USER_RUN_NOTES_POST ":run_notes:1"
#define KEY_USER_RUN_NOTES \
	KEY_USER_RUN_NOTES_PRE "{#}:%" KEY_USER_RUN_NOTES_POST
#define RUN_NOTES_MAX    64
#define RUN_NOTES_TTL_MS 604800000
/* How much longer than a run that has ended its user's list is stored, so that
 * it outlasts one that lives. */
#define RUN_LIST_MORE_MS 2592000000
/* A queued run that was not claimed after this is due. */
#define RUN_QUEUED_MS 5000
/* How often it is checked that the runner of a running one lives. */
#define RUN_RUNNING_MS 30000

/*
 * Runners: sorted set: ids by when they stop being alive (ms); hash: what each
 * offers (JSON).  Of one: set: its queued and running runs, and perhaps some
 * more.
 */
#define KEY_RUNNERS       "soul:runners:{runners}:1"
#define KEY_RUNNER_STATUS "soul:runners:{runners}:status:1"
#define KEY_RUNNER_RUNS   "soul:runner:{%}:runs:1"
/* A runner that has been dead for so long is forgotten. */
#define RUNNER_FORGET_MS 86400000

/*
 * memory: hash: ver (changes with each change), seq (counts the puts), cleared
 * (ms).  Items: hash: id → JSON; sorted sets: ids by their seq; tombstones: ids
 * by when they were forgotten (ms), expires; hash: id → vector, of those that
 * have one.  Superseded: sorted set: ids by the end of their validity (ms);
 * hash: id → JSON.
 */
#define MEMORY_FORMAT         "1"
#define KEY_MEMORY            "soul:memory:{#}:%:%"
#define KEY_MEMORY_ITEMS      "soul:memory:{#}:%:%:items"
#define KEY_MEMORY_ORDER      "soul:memory:{#}:%:%:order"
#define KEY_MEMORY_GONE       "soul:memory:{#}:%:%:gone"
#define KEY_MEMORY_VECS       "soul:memory:{#}:%:%:vectors"
#define KEY_MEMORY_PAST       "soul:memory:{#}:%:%:past"
#define KEY_MEMORY_PAST_ITEMS "soul:memory:{#}:%:%:past_items"
/* Bytes of one page, but for one item. */
#define MEMORY_PAGE_BYTES 2097152

/*
 * profile: hash: low (ms; older changes are ignored), and the leaves of a
 * document by their JSON Pointers: "<ms> <JSON>", or "<ms> " of one that was
 * removed; expires if none is left.
 */
#define PROFILE_FORMAT "1"
#define KEY_PROFILE    "soul:profile:{#}:%"

/*
 * star: client: hash: hub, gen (rises with each claim), user, session, since
 * (ms), seq (of an environment: its newest event); expires, sooner once it is
 * released.  Room: hash: "<class>:<name>" of a member, no tokens: "<hub>
 * <gen>". Events: stream: 0-<seq>: c (cursor's generation), e (envelope, JSON);
 * expires. A client, and the room and events of an environment, are in the
 * bucket of the tenant, class and name.  Hubs: sorted set: by the time (ms) of
 * their newest renewal; 0: dead.  Of one: set: its rooms, "<tenant>:<env>"
 * (tokens), and perhaps some more; sorted set: identities that it is to give
 * up, as the hubs write them, by the generation of the newer claim.  Residents
 * of an environment: hash: agent (no token): "<user> <soul> <ms>", tokens, when
 * that was entered.
 */
#define STAR_FORMAT        "1"
#define KEY_STAR_CLIENT    "soul:star:client:{#}:%:%:%"
#define KEY_STAR_ROOM      "soul:star:room:{#}:%:%:1"
#define KEY_STAR_EVENTS    "soul:star:events:{#}:%:%:1"
#define KEY_STAR_HUBS      "soul:star:hubs:1"
#define KEY_STAR_ROOMS     "soul:star:hub:{%}:rooms:1"
#define KEY_STAR_OUTDATED  "soul:star:hub:{%}:outdated:1"
#define KEY_STAR_RESIDENTS "soul:star:residents:{#}:%:%:1"
/* A claim that is not extended, as one of a dead hub, expires. */
#define STAR_CLAIM_MS 172800000
/* An identity stays its user's for this long after it was released. */
#define STAR_OWNED_MS 86400000
/* A hub that has not read by then what it is to give up is dead. */
#define STAR_OUTDATED_MS 60000
/* Members of a room. */
#define STAR_ROOM_MAX 10000
/* How long an environment's events last after the newest. */
#define STAR_EVENTS_TTL_MS 3600000
/* Events that a script reads at a time. */
#define STAR_EVENTS_CHUNK 100

/*
 * A soul's home: hash: t r (tenant and environment, tokens), env, agent, term
 * (ids), at (ms).  Guests: set: users (tokens).  Identities of a user: set:
 * "<tenant>:<class>:<name>", tokens.
 */
#define KEY_STAR_PLACE  "soul:star:place:{#}:%:%"
#define KEY_STAR_GUESTS "soul:star:guests:{#}:%:%:1"
#define KEY_STAR_USER   "soul:star:user:{#}:%:1"

/*
 * Of MCP servers.  Hashes: a user's own servers: name: JSON; a user's grants:
 * "<soul's token, or *> <server> <tool>": "<policy> <pin>".  Sorted set:
 * "<session's token> <server> <tool>" by when it was used last (ms); expires.
 */
#define KEY_MCP_USER   "soul:mcp:user:{#}:%:1"
#define KEY_MCP_GRANTS "soul:mcp:grants:{#}:%:1"
#define KEY_MCP_USED   "soul:mcp:used:{#}:%:1"
/*
 * String: content of a tool's result that is no text: its media type, a line
 * feed, and it in base64; expires.
 */
#define KEY_MCP_CONTENT "soul:mcp:content:{#}:%:%:1"
/*
 * String: the tools of a server (digest), a result of tools/list; expires.
 * String: a call of a user: "?" while it may be executed, or its reply;
 * expires.
 */
#define KEY_MCP_TOOLS "soul:mcp:tools:{%}:1"
#define KEY_MCP_CALL  "soul:mcp:call:{#}:%:%:1"

/*
 * alarm, push: hash: ver (counts the changes), json (alarm_record); expires
 * after its end.  Sorted sets: a user's alarms, and pushes, by when something
 * is to be done about each (ms), or of those that have ended the negative time
 * of that.  Sorted set, of each bucket: "a:<user>:<alarm>" and
 * "p:<user>:<push>" (tokens) by when something is to be done about them (ms).
 * Of a user: hash: at, day, n, push (what was spoken unasked, not counting
 * alarms: when last, the day of that, how often on it, which); expires.
 */
#define ALARM_FORMAT    "1"
#define KEY_ALARM_PRE   "soul:alarm:"
#define KEY_ALARM       KEY_ALARM_PRE "{#}:%:%"
#define KEY_PUSH_PRE    "soul:push:"
#define KEY_PUSH        KEY_PUSH_PRE "{#}:%:%"
#define KEY_USER_ALARMS "soul:user:{#}:%:alarms:1"
#define KEY_USER_PUSHES "soul:user:{#}:%:pushes:1"
#define KEY_ALARMS_DUE  "soul:alarms:{#}:due:1"
#define KEY_SPEECH      "soul:speech:{#}:%:1"
/* Of a user's alarms, and pushes, that have ended; the oldest are removed. */
#define ALARM_ENDED_MAX 200
/* The index of the last of the newest sessions that are read. */
#define SPEECH_LAST   15
#define SPEECH_TTL_MS 172800000

/*
 * nav: hash, of a user and soul: turns (completed since the newest cycle), why
 * (the highest trigger that waits), seen (the newest events, tokens of their
 * ids, each with a space after it), session, term (ids), at (ms; when the
 * newest cycle began), day, used (cycles of that day), n (all cycles), since
 * (turns since the mind link was stored); while a cycle runs: id, run (its
 * trigger), tries, out (what it has decided, navigator_output); expires. Sorted
 * set, of each bucket: user:soul (tokens) by when a cycle is due (ms), or its
 * claim ends.  Mind link: string: mind_link, JSON; expires.
 */
#define NAV_FORMAT    "1"
#define KEY_NAV_PRE   "soul:nav:"
#define KEY_NAV       KEY_NAV_PRE "{#}:%:%"
#define KEY_NAV_DUE   "soul:navs:{#}:due:1"
#define KEY_MIND_LINK "soul:link:{#}:%:%:1"
#define NAV_TTL_MS    2592000000
/* Triggers of cycles; of several that wait the highest counts. */
#define NAV_TRIGGER_IDLE    1
#define NAV_TRIGGER_MEMORY  2
#define NAV_TRIGGER_RESULT  3
#define NAV_TRIGGER_COUNT   4
#define NAV_TRIGGER_EMOTION 5
/* Ids of events that are remembered. */
#define NAV_SEEN_MAX 16
#define NAV_DAY_MS   86400000
/* A mind link is removed after this time, or so many completed turns. */
#define MIND_LINK_TTL_MS 7200000
#define MIND_LINK_TURNS  3

/*
 * Hash: the evolutions of a user, by id (token): "<version> <evolution_record,
 * JSON>".  Sorted set, of each bucket: user:id (tokens) of those with steps
 * that are not published, by when another process publishes them (ms).
 */
#define KEY_USER_EVOLUTIONS_PRE  "soul:user:"
#define KEY_USER_EVOLUTIONS_POST ":evolutions:1"
#define KEY_USER_EVOLUTIONS \
	KEY_USER_EVOLUTIONS_PRE "{#}:%" KEY_USER_EVOLUTIONS_POST
#define KEY_EVOLUTIONS_DUE "soul:evolutions:{#}:due:1"

/*
 * Webhooks.  Hash, of a user: id: "<created, ms> <types>\n<webhook_record>";
 * types are "*", or each with a comma before and after it.  Of a webhook: hash:
 * tries (of the event that is next), at (ms; the newest attempt), status (its;
 * 0: no response), error, dropped (events); sorted sets: events that wait, and
 * that were given up, by their numbers in SOUL_EVENTS.  Sorted set, of each
 * bucket: user:id (tokens) by when an event is to be sent (ms), or its claim
 * ends.
 */
#define KEY_USER_WEBHOOKS_PRE  "soul:user:"
#define KEY_USER_WEBHOOKS_POST ":webhooks:1"
#define KEY_USER_WEBHOOKS      "soul:user:{#}:%:webhooks:1"
#define KEY_WEBHOOK_PRE        "soul:webhook:"
#define KEY_WEBHOOK_POST       ":1"
#define KEY_WEBHOOK            KEY_WEBHOOK_PRE "{#}:%:%" KEY_WEBHOOK_POST
#define KEY_WEBHOOK_QUEUE_POST ":queue:1"
#define KEY_WEBHOOK_QUEUE      KEY_WEBHOOK_PRE "{#}:%:%" KEY_WEBHOOK_QUEUE_POST
#define KEY_WEBHOOK_DEAD_POST  ":dead:1"
#define KEY_WEBHOOK_DEAD       KEY_WEBHOOK_PRE "{#}:%:%" KEY_WEBHOOK_DEAD_POST
#define KEY_WEBHOOKS_DUE       "soul:webhooks:{#}:due:1"
/* Events that wait for a webhook, or were given up: the oldest are removed. */
#define WEBHOOK_QUEUE_MAX 10000
#define WEBHOOK_DEAD_MAX  1000
/* Events of a claim. */
#define WEBHOOK_BATCH 16

#endif /* !STATE_KEYS_H */
