/*
 * mcp_host: requests to mcp-host, as service_call_send() makes them.
 */
#ifndef CHAT_GATEWAY_MCP_HOST_H
#define CHAT_GATEWAY_MCP_HOST_H

#include "service_call.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define MCP_HOST_MISSING                                                     \
	"no mcp-host is running: start one, or see why none is ready, then " \
	"try again"

/* MCP_HOST_PEER(X, req, rep): The request X of interfaces.json. */
#define MCP_HOST_PEER(X, req, rep)                                        \
	{                                                                 \
		WIRE_SUBJECT_##X, &wire_##req##_desc, &wire_##rep##_desc, \
		    WIRE_DEADLINE_MS_##X, MCP_HOST_MISSING                \
	}

#endif /* !CHAT_GATEWAY_MCP_HOST_H */
