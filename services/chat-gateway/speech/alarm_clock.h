/*
 * alarm_clock: requests to alarm-clock, which has the alarms and is the only
 * one that lets souls speak unasked.
 */
#ifndef CHAT_GATEWAY_SPEECH_ALARM_CLOCK_H
#define CHAT_GATEWAY_SPEECH_ALARM_CLOCK_H

#include "service_call.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define ALARM_CLOCK_MISSING                                                \
	"no alarm-clock is running: start one, or see why none is ready, " \
	"then try again"

/* A struct service_call_peer. */
#define ALARM_CLOCK_PEER(X, req, rep)                                     \
	{                                                                 \
		WIRE_SUBJECT_##X, &wire_##req##_desc, &wire_##rep##_desc, \
		    WIRE_DEADLINE_MS_##X, ALARM_CLOCK_MISSING             \
	}

#endif /* !CHAT_GATEWAY_SPEECH_ALARM_CLOCK_H */
