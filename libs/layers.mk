# The dependency graph as data.  The Makefile links from it, and lint refuses
# any #include that it does not allow.
#   USES_x     libraries that x may include (and links with), besides itself
#   FOREIGN_x  third-party headers that only x's .c files may include
#   PKG_x      pkg-config names of what x links with
#   LDLIBS_x   plain linker arguments, for what ships no .pc file
USES_core    :=
USES_persona := core wire
USES_rx    := core
USES_zh    := core
USES_alarm := core zh wire
USES_wire  := core rx
USES_state := core
USES_terminal := core rx wire
USES_fcmp  := core wire
USES_http  := core
USES_ws    := core http
USES_httpd := core http wire ws
USES_httpc := core
USES_tls   := core
USES_mqtt  := core tls
USES_bus   := core wire tls
USES_llm   := core wire httpc
USES_otlp  := core wire httpc
USES_auth  := core wire
USES_svc   := core wire auth bus http httpd ws
USES_work  := core wire bus svc
USES_procsup := core
USES_tool  := core wire state
USES_search := core

FOREIGN_rx    := pcre2.h
FOREIGN_wire  := jansson.h
FOREIGN_state := hiredis/
FOREIGN_terminal := nettle/
FOREIGN_ws    := wslay/ openssl/
FOREIGN_httpd := civetweb.h
FOREIGN_httpc := curl/
FOREIGN_mqtt  := mosquitto.h mqtt_protocol.h openssl/
FOREIGN_tls   := openssl/
FOREIGN_bus   := openssl/
FOREIGN_auth  := openssl/
FOREIGN_tool  := openssl/
FOREIGN_search := utf8proc.h

PKG_rx       := libpcre2-8
PKG_wire     := jansson
PKG_state    := hiredis
PKG_terminal := nettle
PKG_ws       := libcrypto
PKG_httpc    := libcurl
PKG_mqtt     := libmosquitto libssl libcrypto
PKG_tls      := libssl libcrypto
PKG_bus      := libssl libcrypto
PKG_auth     := libcrypto
PKG_tool     := libcrypto
PKG_search   := libutf8proc
LDLIBS_httpd := -lcivetweb
LDLIBS_ws    := -lwslay

USES_intent-filter    := alarm core rx wire zh state svc
USES_emotion-engine   := core wire bus state persona svc
USES_chat-gateway     := core fcmp wire auth bus state persona tool httpc httpd svc
USES_llm-orchestrator := alarm core fcmp wire bus state persona llm otlp tool svc
USES_memory-worker    := core wire bus state search httpc llm svc work
USES_mqtt-bridge      := core wire bus state terminal mqtt svc
USES_llm-sim          := core wire svc
USES_alarm-clock      := core wire bus state zh alarm tool svc
USES_body-sim         := core rx wire mqtt svc
USES_star-hub         := core wire auth bus state terminal http ws otlp svc
USES_engine-runner    := core fcmp wire bus state tool procsup http httpc svc
USES_mcp-host         := core wire auth bus state procsup search tool http httpc svc
USES_navigator        := core wire bus state search persona llm svc

# Programs in a folder of the service whose sources they share: folder, then
# what they may include.
UNITS_INSIDE := mqtt-bridge/broker-plugin emotion-engine/trainer
USES_broker-plugin := core
USES_trainer       := core wire persona

FOREIGN_intent-filter := utf8proc.h
FOREIGN_chat-gateway  := openssl/
FOREIGN_star-hub      := openssl/
FOREIGN_engine-runner := openssl/
FOREIGN_mcp-host      := openssl/
FOREIGN_broker-plugin := mosquitto.h mosquitto_broker.h mosquitto_plugin.h
PKG_intent-filter     := libutf8proc
PKG_chat-gateway      := libcrypto
PKG_star-hub          := libcrypto
PKG_engine-runner     := libcrypto
PKG_mcp-host          := libcrypto
