{{- define "railhead.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Short enough for the "-headless" behind it. */}}
{{- define "railhead.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "railhead.name" . -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "railhead.selector" -}}
app.kubernetes.io/name: {{ include "railhead.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "railhead.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "railhead.selector" . }}
{{- end -}}

{{- define "railhead.secret" -}}
{{- .Values.credentials.existingSecret | default (printf "%s-credentials" (include "railhead.fullname" .)) -}}
{{- end -}}

{{- define "railhead.memory" -}}
{{- printf "%dMi" (add .Values.memoryMiB.cache .Values.memoryMiB.heap .Values.memoryMiB.other) -}}
{{- end -}}

{{/* railhead.yaml: what the values say, and over it what the pod needs. */}}
{{- define "railhead.config" -}}
{{- $own := dict
      "gateway" (dict
        "listen" "0.0.0.0:9000"
        "health" "0.0.0.0:9901"
        "credentials" "/etc/railhead/credentials.yaml"
        "drain" (printf "%ds" (int .Values.drainSeconds)))
      "cache" (dict "memory" (printf "%dMiB" (int .Values.memoryMiB.cache)))
      "rdma" (dict "loopback" (dict "socket" "/run/railhead/loopback.sock")) -}}
{{- mustMergeOverwrite (deepCopy .Values.config) $own | toYaml -}}
{{- end -}}

{{/* What a schema cannot say. */}}
{{- define "railhead.check" -}}
{{- if not .Values.config.backends -}}
{{- fail "config.backends: name at least one store, such as store: {endpoints: [http://store.example:8080]}" -}}
{{- end -}}
{{- if and .Values.credentials.existingSecret .Values.credentials.principals -}}
{{- fail "credentials: give existingSecret or principals, not both" -}}
{{- end -}}
{{- if not (or .Values.credentials.existingSecret .Values.credentials.principals) -}}
{{- fail "credentials: give existingSecret, a Secret with the key credentials.yaml, or principals" -}}
{{- end -}}
{{- $sole := dig "sole" false (.Values.config.gateway | default dict) -}}
{{- range $i, $rule := .Values.config.rules -}}
{{- if and (kindIs "map" $rule.freshness) (not $sole) -}}
{{- if hasKey $rule.freshness "exclusive" -}}
{{- fail (printf "config.rules[%d].freshness: exclusive needs config.gateway.sole: true, which says that no other release and nobody past this one writes there" $i) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if gt (len .Values.config.backends) 1 -}}
{{- range $i, $rule := .Values.config.rules -}}
{{- if not $rule.backend -}}
{{- fail (printf "config.rules[%d].backend: is missing; there are several backends" $i) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
