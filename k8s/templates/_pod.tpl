{{/* Settings common to all pods of this chart. */}}

{{/* The restricted profile of the Pod Security Standards; a numeric user id, as runAsNonRoot needs. */}}
{{- define "soul.pod.security" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "soul.container.security" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{/* (dict "root" $ "part" … "at" values): scheduling of pods. */}}
{{- define "soul.pod.place" -}}
{{- with .at.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .at.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .at.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .at.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* (dict "root" $ "part" … "service" …): the environment of a service. */}}
{{- define "soul.env" -}}
{{- $v := .root.Values -}}
{{- $s := .service -}}
{{- $env := dict "ADMIN_ADDR" (printf "0.0.0.0:%v" $s.admin) -}}
{{- if $s.http }}{{ $_ := set $env "HTTP_ADDR" (printf "0.0.0.0:%v" $s.http.port) }}{{ end -}}
{{- $_ := set $env "LOG_LEVEL" ($s.logLevel | default $v.logLevel) -}}
{{- $_ := set $env "DRAIN_TIMEOUT_MS" (mul 1000 ($s.drainSeconds | default $s.drain)) -}}
{{- if has "nats" $s.needs -}}
{{- $_ := set $env "NATS_URL" (include "soul.nats.url" .root) -}}
{{- $_ := set $env "NATS_REPLICAS" $v.nats.replicas -}}
{{- if $v.nats.bundled.enabled }}{{ $_ := set $env "NATS_USER" .part }}
{{- else if $v.nats.external.user }}{{ $_ := set $env "NATS_USER" $v.nats.external.user }}{{ end -}}
{{- end -}}
{{- if and (has "redis" $s.needs) (not $v.redis.bundled.enabled) $v.redis.external.url -}}
{{- $_ := set $env "REDIS_URL" $v.redis.external.url -}}
{{- end -}}
{{- if has "mqtt" $s.needs -}}
{{- $_ := set $env "MQTT_BROKER_URL" (include "soul.mqtt.url" .root) -}}
{{- if and $v.mqtt.bundled.enabled (eq .part "body-sim") -}}
{{- $_ := set $env "MQTT_BROKER_URL" (printf "mqtt://%s-mosquitto-inside:1883" (include "soul.fullname" .root)) -}}
{{- end -}}
{{- $_ := set $env "MQTT_TOPIC_PREFIX" $v.mqtt.topicPrefix -}}
{{- if $v.mqtt.bundled.enabled -}}
{{- $_ := set $env "MQTT_USERNAME" (include "soul.mqtt.user" .) -}}
{{- else if $v.mqtt.external.user -}}
{{- $_ := set $env "MQTT_USERNAME" $v.mqtt.external.user -}}
{{- end -}}
{{- end -}}
{{- if has "llm" $s.needs -}}
{{- $_ := set $env "LLM_PROVIDER" $v.llm.provider -}}
{{- with $v.llm.model }}{{ $_ := set $env "LLM_MODEL" . }}{{ end -}}
{{- with include "soul.llm.url" .root -}}
{{- $_ := set $env (ternary "OPENAI_BASE_URL" "ANTHROPIC_BASE_URL" (eq $v.llm.provider "openai")) . -}}
{{- end -}}
{{- if $v.llm.providers }}{{ $_ := set $env "LLM_PROVIDERS" "/etc/soul/providers.json" }}{{ end -}}
{{- end -}}
{{- if $s.http -}}
{{- if or $s.demo (not $v.auth.enabled) -}}
{{- $_ := set $env "AUTH" "off" -}}
{{- else if $v.auth.jwks.configMap -}}
{{- $_ := set $env "AUTH_JWKS" "/etc/soul/jwks/jwks.json" -}}
{{- $_ := set $env "AUTH_ISSUER" $v.auth.jwks.issuer -}}
{{- $_ := set $env "AUTH_AUDIENCE" $v.auth.jwks.audience -}}
{{- end -}}
{{- end -}}
{{- if $s.disk -}}
{{- $_ := set $env "RUNS_DIR" "/var/lib/soul/runs" -}}
{{- $_ := set $env "ENGINES" "/etc/soul/engines.json" -}}
{{- if $s.skillsClaim }}{{ $_ := set $env "SKILLS_DIR" "/etc/soul-skills" }}{{ end -}}
{{- /* Attempts are stopped in time to be saved. */ -}}
{{- $_ := set $env "RUNS_DRAIN_MS" (max 0 (sub (mul 1000 ($s.drainSeconds | default $s.drain)) 30000)) -}}
{{- end -}}
{{- if eq .part "mcp-host" -}}
{{- $_ := set $env "MCP_CONFIG" "/etc/soul/mcp.json" -}}
{{- $_ := set $env "MCP_CATALOGUE" "/etc/soul/mcp-catalogue.json" -}}
{{- end -}}
{{- range $name, $value := $s.env }}{{ $_ := set $env $name $value }}{{ end -}}
{{- range $name, $value := $env }}
- name: {{ $name }}
  value: {{ include "soul.text" $value | quote }}
{{- end }}
{{- if $s.disk }}
- name: RUNNER_ID
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- end }}
{{- range (include "soul.secrets" . | fromYaml).list }}
- name: {{ get (dict "nats-password" "NATS_PASSWORD_FILE" "redis-url" "REDIS_URL_FILE" "mqtt-password" "MQTT_PASSWORD_FILE" "tokens.json" "AUTH_TOKENS" "secrets-key" "SECRETS_KEY_FILE") .file }}
  value: /run/soul/auth/{{ .file }}
{{- end }}
{{- range $tls := (include "soul.tls" . | fromYaml).list }}
{{- range $name, $file := $tls.vars }}
- name: {{ $name }}
  value: /run/soul/{{ $tls.name }}/{{ $file }}
{{- end }}
{{- end }}
{{- with $s.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* (dict "root" $ "part" … "service" …): the ConfigMap with the JWKS. */}}
{{- define "soul.jwks" -}}
{{- if and .root.Values.auth.enabled (include "soul.auth.checked" .service) -}}
{{ .root.Values.auth.jwks.configMap }}
{{- end -}}
{{- end -}}

{{/* (dict "root" $ "part" … "service" …): its username at the bundled broker. */}}
{{- define "soul.mqtt.user" -}}
{{- if eq .part "body-sim" -}}
{{- dig "env" "TERMINAL_ID" "terminal-001" .service -}}
{{- else -}}
{{- .part -}}
{{- end -}}
{{- end -}}

{{/* (dict "root" $ "part" … "service" …): the container of a service. */}}
{{- define "soul.container" -}}
{{- $s := .service -}}
name: {{ .part }}
image: {{ include "soul.image" (dict "root" .root "part" ($s.image_name | default .part) "image" $s.image) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{ include "soul.container.security" . }}
env: {{- include "soul.env" . | nindent 2 }}
{{- if and (has "llm" $s.needs) .root.Values.llm.existingSecret }}
envFrom:
  - secretRef:
      name: {{ .root.Values.llm.existingSecret }}
{{- end }}
ports:
{{- with $s.http }}
  - name: http
    containerPort: {{ .port }}
    protocol: TCP
{{- end }}
  - name: admin
    containerPort: {{ $s.admin }}
    protocol: TCP
startupProbe:
  httpGet: {path: /livez, port: admin}
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /livez, port: admin}
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 3
readinessProbe:
  httpGet: {path: /readyz, port: admin}
  periodSeconds: 3
  timeoutSeconds: 2
  failureThreshold: 2
{{- with $s.linger }}
lifecycle:
  preStop:
    exec:
      # Endpoints are updated with a delay: keep serving for a while.
      command: [sleep, {{ . | quote }}]
{{- end }}
resources: {{- toYaml $s.resources | nindent 2 }}
volumeMounts:
{{- if (include "soul.secrets" . | fromYaml).list }}
  - name: auth
    mountPath: /run/soul/auth
    readOnly: true
{{- end }}
{{- range (include "soul.tls" . | fromYaml).list }}
  - name: {{ .name }}
    mountPath: /run/soul/{{ .name }}
    readOnly: true
{{- end }}
{{- if and (has "llm" $s.needs) .root.Values.llm.providers }}
  - name: providers
    mountPath: /etc/soul
    readOnly: true
{{- end }}
{{- if include "soul.jwks" . }}
  - name: jwks
    mountPath: /etc/soul/jwks
    readOnly: true
{{- end }}
{{- if eq .part "mcp-host" }}
  - name: servers
    mountPath: /etc/soul
    readOnly: true
{{- end }}
{{- if $s.disk }}
  - name: engines
    mountPath: /etc/soul
    readOnly: true
  - name: data
    mountPath: /var/lib/soul
{{- end }}
{{- if and $s.disk $s.skillsClaim }}
  - name: skills
    mountPath: /etc/soul-skills
    readOnly: true
{{- end }}
  - name: tmp
    mountPath: /tmp
{{- end -}}

{{/* (dict "root" $ "part" … "service" …): its volumes. */}}
{{- define "soul.volumes" -}}
{{- with (include "soul.secrets" . | fromYaml).list -}}
- name: auth
  projected:
    defaultMode: 0440
    sources:
{{- range . }}
      - secret:
          name: {{ .secret }}
          items:
            - key: {{ .key }}
              path: {{ .file }}
{{- end }}
{{- end }}
{{- range $tls := (include "soul.tls" . | fromYaml).list }}
- name: {{ .name }}
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
    items:
      {{- range $_, $file := .vars }}
      - key: {{ $file }}
        path: {{ $file }}
      {{- end }}
{{- end }}
{{- if and (has "llm" .service.needs) .root.Values.llm.providers }}
- name: providers
  configMap:
    name: {{ include "soul.fullname" .root }}-llm
{{- end }}
{{- with include "soul.jwks" . }}
- name: jwks
  configMap:
    name: {{ . }}
{{- end }}
{{- if and (eq .part "body-sim") (include "soul.demo.identity" .root) }}
- name: identity
  projected:
    defaultMode: 0440
    sources:
      - configMap:
          name: {{ include "soul.fullname" .root }}-body-sim
{{- range list "token-provisioner" "token-maker" }}
      - secret:
          name: {{ include "soul.auth.name" $.root }}
          optional: true
          items:
            - key: {{ . }}
              path: {{ . }}
{{- end }}
{{- end }}
{{- if eq .part "mcp-host" }}
- name: servers
  configMap:
    name: {{ include "soul.fullname" .root }}-mcp
{{- end }}
{{- if .service.disk }}
{{- include "soul.engines.volumes" . }}
{{- end }}
- name: tmp
  emptyDir:
    sizeLimit: 16Mi
{{- end -}}

{{/* Whether the chart creates the identity of the simulated body. */}}
{{- define "soul.demo.identity" -}}
{{- $services := include "soul.services" . | fromYaml -}}
{{- if and .Values.auth.enabled (hasKey $services "body-sim") (dig "chat-gateway" "http" false $services) }}yes{{ end -}}
{{- end -}}

{{/* (dict "root" $ "part" "body-sim" "service" …): the container that creates it and exits. */}}
{{- define "soul.demo.container" -}}
{{- $gateway := get (include "soul.services" .root | fromYaml) "chat-gateway" -}}
name: identity
image: {{ include "soul.image" (dict "root" .root "part" "chat-gateway" "image" $gateway.image) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{ include "soul.container.security" . }}
command: [bash, /etc/soul/demo-body]
env:
  - name: GATEWAY
    value: {{ include "soul.fullname" .root }}-chat-gateway:{{ $gateway.http.port }}
  - name: TERMINAL_ID
    value: {{ include "soul.mqtt.user" . }}
  - name: TOKEN_FILE
    value: /etc/soul/token-provisioner
resources: {{- toYaml .service.resources | nindent 2 }}
volumeMounts:
  - name: identity
    mountPath: /etc/soul
    readOnly: true
{{- end -}}
