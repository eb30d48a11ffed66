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

{{/* The content of credentials.yaml that the values have; "" where there is none. */}}
{{- define "railhead.credentials" -}}
{{- $credentials := pick .Values.credentials "principals" "roles" "revoked" -}}
{{- range $name, $entries := $credentials -}}
{{- if not $entries -}}
{{- $_ := unset $credentials $name -}}
{{- end -}}
{{- end -}}
{{- if or $credentials.principals $credentials.roles -}}
{{- toYaml $credentials -}}
{{- end -}}
{{- end -}}

{{- define "railhead.sessionKeysSecret" -}}
{{- .Values.webIdentity.sessionKeys.existingSecret | default (printf "%s-session-keys" (include "railhead.fullname" .)) -}}
{{- end -}}

{{/* "true" where the gateway asks this cluster's API server for keys. */}}
{{- define "railhead.asksCluster" -}}
{{- if and .Values.webIdentity.enabled .Values.webIdentity.cluster.enabled -}}true{{- end -}}
{{- end -}}

{{/* gateway.web_identity. Each reading of the API server's keys is with the pod's own token and the cluster's authority. */}}
{{- define "railhead.webIdentity" -}}
{{- $issuers := list -}}
{{- with .Values.webIdentity.cluster -}}
{{- if .enabled -}}
{{- $cluster := dict
      "issuer" .issuer
      "audiences" (list .audience)
      "ca" "/etc/railhead-cluster/ca.crt"
      "token_file" "/etc/railhead-cluster/token" -}}
{{- if .jwks -}}
{{- $_ := set $cluster "jwks" .jwks -}}
{{- end -}}
{{- with .tokenHosts -}}
{{- $_ := set $cluster "token_hosts" . -}}
{{- end -}}
{{- $issuers = append $issuers $cluster -}}
{{- end -}}
{{- end -}}
{{- dict "session_keys" "/etc/railhead/session.keys" "issuers" (concat $issuers .Values.webIdentity.issuers) | toYaml -}}
{{- end -}}

{{/* Huge pages do not count towards a container's memory. */}}
{{- define "railhead.memory" -}}
{{- $cache := ternary 0 (int .Values.memoryMiB.cache) (ne .Values.hugePages "") -}}
{{- printf "%dMi" (add $cache (include "railhead.heapMiB" .) .Values.memoryMiB.other (include "railhead.diskMiB" (dict "Values" .Values "bytesPerPage" 52 "pagesMore" 8))) -}}
{{- end -}}

{{/* The heap, with the filters of the disk tier. */}}
{{- define "railhead.heapMiB" -}}
{{- add .Values.memoryMiB.heap (include "railhead.diskMiB" (dict "Values" .Values "bytesPerPage" 1 "pagesMore" 0)) -}}
{{- end -}}

{{/* The memory of all disks, so many bytes for each page that fits, and some whole pages for each disk's readers. A test holds that
     it is what the gateway takes. */}}
{{- define "railhead.diskMiB" -}}
{{- if include "railhead.hasDisk" . -}}
{{- $page := int64 (get (dict "64KiB" 65536 "128KiB" 131072 "512KiB" 524288 "1MiB" 1048576) (dig "page" "256KiB" (.Values.config.cache | default dict)) | default 262144) -}}
{{- $pages := div (mul (int64 .Values.disk.sizeGiB) 1073741824) $page -}}
{{- $each := add (mul $pages .bytesPerPage) (mul $page .pagesMore) 65536 -}}
{{- div (add (mul $each (include "railhead.disks" . | int)) 1048575) 1048576 -}}
{{- else -}}0{{- end -}}
{{- end -}}

{{- define "railhead.hasDisk" -}}
{{- if gt (int .Values.disk.sizeGiB) 0 -}}true{{- end -}}
{{- end -}}

{{/* The number of files or devices of a pod. */}}
{{- define "railhead.disks" -}}
{{- if eq .Values.kind "DaemonSet" -}}{{- len .Values.disk.hostPaths -}}{{- else -}}{{- int .Values.disk.claims.count -}}{{- end -}}
{{- end -}}

{{/* "true" where they are raw devices. */}}
{{- define "railhead.hasDevices" -}}
{{- if and (include "railhead.hasDisk" .) (eq .Values.kind "StatefulSet") (eq .Values.disk.claims.mode "Block") -}}true{{- end -}}
{{- end -}}

{{/* The paths of cache.disk.paths, as YAML. */}}
{{- define "railhead.diskPaths" -}}
{{- $form := ternary "/dev/railhead%d" "/var/lib/railhead/disk%d/pages" (ne (include "railhead.hasDevices" .) "") -}}
{{- range $i := until (include "railhead.disks" . | int) }}
- {{ printf $form $i }}
{{- end -}}
{{- end -}}

{{- define "railhead.hasWriteBack" -}}
{{- /* Values of a release from before writeBack have none: helm upgrade --reuse-values. */ -}}
{{- with .Values.writeBack -}}
{{- if gt (int .sizeGiB) 0 -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* A claim beside the workload, whose name changes with the disk tier: pending writes would stay behind in a claim of the former name. */}}
{{- define "railhead.writeBackClaim" -}}
{{- printf "%s-log" (include "railhead.fullname" .) -}}
{{- end -}}

{{/* The seconds that the pod's end may wait for the store. */}}
{{- define "railhead.flushSeconds" -}}
{{- if include "railhead.flushes" . -}}{{- int .Values.writeBack.flushSeconds -}}{{- else -}}0{{- end -}}
{{- end -}}

{{/* "true" where the end of a pod waits for pending writes. Over TLS nothing in the image can ask. */}}
{{- define "railhead.flushes" -}}
{{- if and (include "railhead.hasWriteBack" .) (gt (int .Values.writeBack.flushSeconds) 0) (not .Values.healthTls.existingSecret) -}}true{{- end -}}
{{- end -}}

{{/* "true" where helm uninstall asks for pending writes first. Values of a release from before have no answer to that: then it asks. */}}
{{- define "railhead.refusesUninstall" -}}
{{- if and (include "railhead.hasWriteBack" .) (ne (toString .Values.writeBack.refuseUninstall) "false") (not .Values.healthTls.existingSecret) -}}true{{- end -}}
{{- end -}}

{{/* Waits until the Service has noticed, and then for the store to have what is pending. A gateway that does not say three times in a
     row is hung, and is not waited for. The image has no timeout and no wget but as applets of busybox. */}}
{{- define "railhead.preStop" -}}
{{- if include "railhead.flushes" . -}}
[sh, -c, {{ printf "sleep %d; busybox timeout %d sh -c 'n=0; while [ $n -lt 3 ]; do case \"$(busybox timeout 3 busybox wget -q -O - http://127.0.0.1:9901/metrics | grep \"^railhead_write_back_pending \")\" in *\" 0\"|*\" 0.0\") break;; \"\") n=$((n+1));; *) n=0;; esac; sleep 1; done' || true" (int .Values.preStopSeconds) (int .Values.writeBack.flushSeconds) | quote }}]
{{- else -}}
[sleep, {{ .Values.preStopSeconds | quote }}]
{{- end -}}
{{- end -}}

{{/* The workload's name. Claims of a StatefulSet cannot be changed later, so one with a disk is another: then an upgrade that adds the
     disk tier, and a rollback that takes it away, replace the one by the other. */}}
{{- define "railhead.workload" -}}
{{- if and (include "railhead.hasDisk" .) (eq .Values.kind "StatefulSet") -}}
{{- printf "%s-disk" (include "railhead.fullname" . | trunc 47 | trimSuffix "-") -}}
{{- else -}}
{{- include "railhead.fullname" . -}}
{{- end -}}
{{- end -}}

{{- define "railhead.hugePages" -}}
{{- with .Values.hugePages -}}
hugepages-{{ . }}: {{ int $.Values.memoryMiB.cache }}Mi
{{- end -}}
{{- end -}}

{{- define "railhead.image" -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote -}}
{{- end -}}

{{- define "railhead.rdmaResource" -}}
{{- with .Values.network.rdmaResource -}}
{{ . }}: {{ $.Values.network.rdmaResourceCount }}
{{- end -}}
{{- end -}}

{{/* "" where the S3 port is not TLS. */}}
{{- define "railhead.tlsSecret" -}}
{{- if .Values.tls.existingSecret -}}
{{- .Values.tls.existingSecret -}}
{{- else if .Values.tls.certManager.enabled -}}
{{- printf "%s-tls" (include "railhead.fullname" .) -}}
{{- end -}}
{{- end -}}

{{/* By which the gateways of a cluster prove themselves to each other. */}}
{{- define "railhead.membersSecret" -}}
{{- .Values.cluster.existingSecret | default (printf "%s-members" (include "railhead.fullname" .)) -}}
{{- end -}}

{{- define "railhead.authentication" -}}
{{- dig "authentication" "verify" (.Values.config.gateway | default dict) -}}
{{- end -}}

{{/* The fabric that needs an adapter; "" if none does. */}}
{{- define "railhead.adapter" -}}
{{- $rdma := .Values.config.rdma | default dict -}}
{{- if dig "verbs" "enabled" false $rdma -}}verbs{{- else if dig "dc" "enabled" false $rdma -}}dc{{- end -}}
{{- end -}}

{{/* "true" where memory is pinned, which no other pod may do: so the PodSecurity level "restricted" admits the others. */}}
{{- define "railhead.pins" -}}
{{- if or (include "railhead.adapter" .) .Values.hugePages (dig "lock" false (.Values.config.cache | default dict)) -}}true{{- end -}}
{{- end -}}

{{- define "railhead.url" -}}
{{- $scheme := ternary "https" "http" (ne (include "railhead.tlsSecret" .) "") -}}
{{- printf "%s://%s.%s.svc:%d" $scheme (include "railhead.fullname" .) .Release.Namespace (int .Values.service.port) -}}
{{- end -}}

{{- define "railhead.nodeSelector" -}}
{{- $selector := deepCopy .Values.nodeSelector -}}
{{- with .Values.rack.label -}}
{{- $_ := set $selector . $.Values.rack.value -}}
{{- end -}}
{{- with $selector -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}

{{/* Unless told otherwise, gateways of one rack stay off each other's nodes where they can. One alone says so too: were it said by
     several only, going from one to more, or back, would change the pod and so restart each of them. */}}
{{- define "railhead.spread" -}}
{{- if .Values.topologySpreadConstraints -}}
{{- toYaml .Values.topologySpreadConstraints -}}
{{- else if eq .Values.kind "StatefulSet" -}}
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "railhead.selector" . | nindent 6 }}
{{- end -}}
{{- end -}}

{{/* railhead.yaml: what the values say, and over it what the pod needs. */}}
{{- define "railhead.config" -}}
{{- $gateway := dict
      "listen" "0.0.0.0:9000"
      "health" "0.0.0.0:9901"
      "credentials" "/etc/railhead/credentials.yaml"
      "drain" (printf "%ds" (int .Values.drainSeconds)) -}}
{{- if .Values.policy -}}
{{- $_ := set $gateway "policy" "/etc/railhead/policy.json" -}}
{{- end -}}
{{- if .Values.webIdentity.enabled -}}
{{- $_ := set $gateway "web_identity" (include "railhead.webIdentity" . | fromYaml) -}}
{{- end -}}
{{- if include "railhead.tlsSecret" . -}}
{{- $tls := dict "certificate" "/etc/railhead-tls/tls.crt" "key" "/etc/railhead-tls/tls.key" -}}
{{- if .Values.tls.clientCaSecret -}}
{{- $_ := set $tls "client_ca" "/etc/railhead-tls/client-ca.crt" -}}
{{- end -}}
{{- $_ := set $gateway "tls" $tls -}}
{{- end -}}
{{- with .Values.healthTls -}}
{{- if .existingSecret -}}
{{- $tls := dict "certificate" "/etc/railhead-health-tls/tls.crt" "key" "/etc/railhead-health-tls/tls.key" -}}
{{- if .clientCaSecret -}}
{{- $_ := set $tls "client_ca" "/etc/railhead-health-tls/client-ca.crt" -}}
{{- end -}}
{{- $_ := set $gateway "health_tls" $tls -}}
{{- end -}}
{{- end -}}
{{- $cache := dict "memory" (printf "%dMiB" (int .Values.memoryMiB.cache)) -}}
{{- with .Values.hugePages -}}
{{- $_ := set $cache "huge_pages" (printf "%sB" .) -}}
{{- end -}}
{{- if include "railhead.hasDisk" . -}}
{{- $_ := set $cache "disk" (dict "paths" (include "railhead.diskPaths" . | fromYamlArray) "size" (printf "%dGiB" (int .Values.disk.sizeGiB))) -}}
{{- end -}}
{{- $rdma := dict "loopback" (dict "socket" "/run/railhead/loopback.sock") -}}
{{- if .Values.dc.existingSecret -}}
{{- $_ := set $rdma "dc" (dict "key_file" "/etc/railhead-dc/dc.key") -}}
{{- end -}}
{{- $own := dict
      "gateway" $gateway
      "cache" $cache
      "rdma" $rdma -}}
{{- if include "railhead.hasWriteBack" . -}}
{{- $_ := set $own "write_back" (dict "path" "/var/lib/railhead/write-back/log" "size" (printf "%dGiB" (int .Values.writeBack.sizeGiB))) -}}
{{- end -}}
{{- if .Values.cluster.enabled -}}
{{- $_ := set $own "cluster" (dict
      "name" (printf "%s/%s" .Release.Namespace (include "railhead.fullname" .))
      "listen" "0.0.0.0:7800"
      "fills" "0.0.0.0:7801"
      "dns" (printf "%s-headless.%s.svc" (include "railhead.fullname" .) .Release.Namespace)
      "tls" (dict
        "certificate" "/etc/railhead-members-tls/tls.crt"
        "key" "/etc/railhead-members-tls/tls.key"
        "client_ca" "/etc/railhead-members-tls/ca.crt")) -}}
{{- if eq .Values.kind "StatefulSet" -}}
{{- $scheme := ternary "https" "http" (ne (include "railhead.tlsSecret" .) "") -}}
{{- $_ := set $own.cluster "endpoint" (printf "%s://{name}.%s-headless.%s.svc:9000" $scheme (include "railhead.fullname" .) .Release.Namespace) -}}
{{- end -}}
{{- end -}}
{{- with .Values.adminTls -}}
{{- if .existingSecret -}}
{{- $tls := dict "certificate" "/etc/railhead-admin-tls/tls.crt" "key" "/etc/railhead-admin-tls/tls.key" -}}
{{- if .clientCaSecret -}}
{{- $_ := set $tls "client_ca" "/etc/railhead-admin-tls/client-ca.crt" -}}
{{- end -}}
{{- $_ := set $own "admin" (dict "tls" $tls) -}}
{{- end -}}
{{- end -}}
{{- with .Values.auditSyslog -}}
{{- $syslog := dict -}}
{{- if .caSecret -}}
{{- $_ := set $syslog "ca" "/etc/railhead-audit-tls/ca.crt" -}}
{{- end -}}
{{- if .clientSecret -}}
{{- $_ := set $syslog "certificate" "/etc/railhead-audit-tls/tls.crt" -}}
{{- $_ := set $syslog "key" "/etc/railhead-audit-tls/tls.key" -}}
{{- end -}}
{{- if $syslog -}}
{{- $_ := set $own "audit" (dict "syslog" $syslog) -}}
{{- end -}}
{{- end -}}
{{- mustMergeOverwrite (deepCopy .Values.config) $own | toYaml -}}
{{- end -}}

{{/* What of railhead.yaml only a restart puts in force: all but what the gateway reads again. A test holds it. */}}
{{- define "railhead.restartConfig" -}}
{{- $config := include "railhead.config" . | fromYaml -}}
{{- $config = omit $config "backends" "rules" "tracing" -}}
{{- $_ := set $config "gateway" (omit $config.gateway "admission") -}}
{{- if $config.accounting -}}
{{- $_ := set $config "accounting" (omit $config.accounting "prices") -}}
{{- end -}}
{{- $_ := set $config "log" (omit ($config.log | default dict) "level") -}}
{{- toYaml $config -}}
{{- end -}}

{{/* The JVM's options: those of env first, so that the heap and direct memory are what the pod has memory for. By the launcher's
     own variable: of JDK_JAVA_OPTIONS, which env may have as well, the JVM writes a line that is no JSON. */}}
{{- define "railhead.javaOptions" -}}
{{- $options := list -}}
{{- range .Values.env -}}
{{- if eq .name "RAILHEAD_JAVA_OPTIONS" -}}
{{- $options = append $options .value -}}
{{- end -}}
{{- end -}}
{{- $options = append $options (printf "-Xmx%dm" (include "railhead.heapMiB" . | int)) -}}
{{- $options = append $options (printf "-XX:MaxDirectMemorySize=%dm" (sub (int .Values.memoryMiB.other) 256)) -}}
{{- join " " $options -}}
{{- end -}}

{{/* The other variables. */}}
{{- define "railhead.env" -}}
{{- $others := list -}}
{{- range .Values.env -}}
{{- if ne .name "RAILHEAD_JAVA_OPTIONS" -}}
{{- $others = append $others . -}}
{{- end -}}
{{- end -}}
{{- with $others -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}

{{/* What a schema cannot say. */}}
{{- define "railhead.check" -}}
{{- range $i, $variable := .Values.env -}}
{{- if and (eq $variable.name "RAILHEAD_JAVA_OPTIONS") (not (hasKey $variable "value")) -}}
{{- fail (printf "env[%d]: RAILHEAD_JAVA_OPTIONS needs a value, beside which the chart writes the sizes of memoryMiB" $i) -}}
{{- end -}}
{{- if and (has $variable.name (list "RAILHEAD_JAVA_OPTIONS" "JDK_JAVA_OPTIONS" "JAVA_TOOL_OPTIONS")) (regexMatch "-Xmx|MaxDirectMemorySize|MaxRAM|MaxHeapSize" ($variable.value | default "" | toString)) -}}
{{- fail (printf "env[%d]: %s must not size memory; set memoryMiB.heap and memoryMiB.other, of which the pod's memory is the sum" $i $variable.name) -}}
{{- end -}}
{{- end -}}
{{- $config := .Values.config -}}
{{- $gateway := $config.gateway | default dict -}}
{{- $authentication := include "railhead.authentication" . -}}
{{- $credentials := .Values.credentials -}}
{{- $own := include "railhead.credentials" . -}}
{{- $webIdentity := .Values.webIdentity -}}
{{- $several := or (eq .Values.kind "DaemonSet") (gt (int .Values.replicas) 1) -}}
{{- $exposed := ne .Values.service.type "ClusterIP" -}}
{{- if not $config.backends -}}
{{- fail "config.backends: name at least one store, such as store: {endpoints: [http://store.example:8080]}" -}}
{{- end -}}
{{- if and $credentials.existingSecret $own -}}
{{- fail "credentials: give existingSecret, or principals and roles, not both" -}}
{{- end -}}
{{- if and $credentials.revoked (not $own) -}}
{{- fail "credentials.revoked: stands beside principals or roles; with existingSecret it is in that Secret's credentials.yaml" -}}
{{- end -}}
{{- if and $credentials.roles (not $webIdentity.enabled) -}}
{{- fail "credentials.roles: nobody can assume a role without tokens; set webIdentity.enabled" -}}
{{- end -}}
{{- if $webIdentity.enabled -}}
{{- if ne $authentication "verify" -}}
{{- fail (printf "webIdentity.enabled: needs config.gateway.authentication: verify, and this is %s" $authentication) -}}
{{- end -}}
{{- if not (or $webIdentity.cluster.enabled $webIdentity.issuers) -}}
{{- fail "webIdentity: names nobody whose tokens count; set cluster.enabled or issuers" -}}
{{- end -}}
{{- end -}}
{{- if eq $authentication "pass_through" -}}
{{- if or $credentials.existingSecret $own -}}
{{- fail "credentials: must be empty under config.gateway.authentication: pass_through, where the store verifies all signatures" -}}
{{- end -}}
{{- if .Values.policy -}}
{{- fail "policy: cannot be held under config.gateway.authentication: pass_through" -}}
{{- end -}}
{{- if include "railhead.adapter" . -}}
{{- fail (printf "config.rdma.%s.enabled: there is no RDMA under config.gateway.authentication: pass_through" (include "railhead.adapter" .)) -}}
{{- end -}}
{{- else if not (or $credentials.existingSecret $own) -}}
{{- fail "credentials: give existingSecret, a Secret with the key credentials.yaml, or principals, or roles" -}}
{{- end -}}
{{- if and (eq $authentication "trusted_network") $exposed -}}
{{- fail (printf "service.type: %s would let anybody act as the one principal of config.gateway.authentication: trusted_network; use ClusterIP" .Values.service.type) -}}
{{- end -}}
{{- if and (eq .Values.kind "DaemonSet") (ne (int .Values.replicas) 1) -}}
{{- fail "replicas: a DaemonSet has one pod on each node; leave it at 1" -}}
{{- end -}}
{{- with .Values.cluster -}}
{{- if and .enabled (not .existingSecret) (not .certManager.enabled) -}}
{{- fail "cluster: gateways prove themselves to each other; give existingSecret, a Secret with tls.crt, tls.key and ca.crt, or certManager" -}}
{{- end -}}
{{- if and .existingSecret .certManager.enabled -}}
{{- fail "cluster: give existingSecret or certManager, not both" -}}
{{- end -}}
{{- if and (not .enabled) (or .existingSecret .certManager.enabled) -}}
{{- fail "cluster.enabled: is false, so its certificate would be of no use; set it, or take the certificate away" -}}
{{- end -}}
{{- end -}}
{{- $sole := dig "sole" false $gateway -}}
{{- if and $sole .Values.cluster.enabled -}}
{{- fail "config.gateway.sole: cannot be true with cluster.enabled, since each gateway of a cluster writes" -}}
{{- end -}}
{{- if and $sole $several -}}
{{- fail "config.gateway.sole: several gateways are caches of their own, so none is the only one that writes; set replicas: 1 and kind: StatefulSet" -}}
{{- end -}}
{{- range $i, $rule := $config.rules -}}
{{- if and (kindIs "map" $rule.freshness) (not $sole) -}}
{{- if hasKey $rule.freshness "exclusive" -}}
{{- fail (printf "config.rules[%d].freshness: exclusive needs config.gateway.sole: true, which says that no other release and nobody past this one writes there" $i) -}}
{{- end -}}
{{- end -}}
{{- if kindIs "string" $rule.freshness -}}
{{- if not (has $rule.freshness (list "strong" "immutable")) -}}
{{- fail (printf "config.rules[%d].freshness: '%s' is not strong, immutable, {bounded: 30s} or {exclusive: 1h}" $i $rule.freshness) -}}
{{- end -}}
{{- end -}}
{{- if and $rule.backend (not (hasKey $config.backends $rule.backend)) -}}
{{- fail (printf "config.rules[%d].backend: there is no '%s' under config.backends; one of %s" $i $rule.backend (keys $config.backends | sortAlpha | join ", ")) -}}
{{- end -}}
{{- if and (gt (len $config.backends) 1) (not $rule.backend) -}}
{{- fail (printf "config.rules[%d].backend: is missing; there are several backends" $i) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.service.trafficDistribution (semverCompare "<1.34.0-0" .Capabilities.KubeVersion.Version) -}}
{{- fail (printf "service.trafficDistribution: %s needs Kubernetes 1.34, and this is %s; leave it empty" .Values.service.trafficDistribution .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- $pageMiB := get (dict "2Mi" 2 "1Gi" 1024) .Values.hugePages | default 1 -}}
{{- if ne 0 (mod (int .Values.memoryMiB.cache) $pageMiB) -}}
{{- fail (printf "memoryMiB.cache: %d is no multiple of hugePages: %s" (int .Values.memoryMiB.cache) .Values.hugePages) -}}
{{- end -}}
{{- if and (include "railhead.adapter" .) (not .Values.network.rdmaResource) -}}
{{- fail (printf "network.rdmaResource: config.rdma.%s.enabled needs an adapter; name the resource of the RDMA device plugin, such as rdma/hca_shared_devices_a" (include "railhead.adapter" .)) -}}
{{- end -}}
{{- if and .Values.network.hostNetwork .Values.network.multus -}}
{{- fail "network: a pod with hostNetwork has no networks of Multus; choose one" -}}
{{- end -}}
{{- if and .Values.network.hostNetwork .Values.networkPolicy.enabled -}}
{{- fail "networkPolicy.enabled: does not hold for a pod with network.hostNetwork; use the node's firewall" -}}
{{- end -}}
{{- if include "railhead.hasWriteBack" . -}}
{{- if .Values.cluster.enabled -}}
{{- fail "writeBack: cannot be used with cluster.enabled yet, since other gateways would serve what was there before" -}}
{{- end -}}
{{- if $several -}}
{{- fail "writeBack: is for one gateway, since another one would serve what was there before; set replicas: 1 and kind: StatefulSet" -}}
{{- end -}}
{{- else if $config.write_back -}}
{{- fail "config.write_back: there is no log; set writeBack.sizeGiB" -}}
{{- end -}}
{{- range $i, $rule := $config.rules -}}
{{- if eq ($rule.acknowledge | default "store") "disk" -}}
{{- $key := printf "config.rules[%d].acknowledge" $i -}}
{{- if not (include "railhead.hasWriteBack" $) -}}
{{- fail (printf "%s: disk needs a log; set writeBack.sizeGiB" $key) -}}
{{- end -}}
{{- if ne $authentication "verify" -}}
{{- fail (printf "%s: disk needs config.gateway.authentication: verify, and this is %s" $key $authentication) -}}
{{- end -}}
{{- if not $.Values.policy -}}
{{- fail (printf "%s: disk needs policy, which grants the writers their writes before the store is asked" $key) -}}
{{- end -}}
{{- if not $sole -}}
{{- fail (printf "%s: disk needs config.gateway.sole: true, which says that no other release and nobody past this one writes there" $key) -}}
{{- end -}}
{{- if not $rule.copies -}}
{{- fail (printf "config.rules[%d].copies: is missing; acknowledge: disk needs copies: 1, which says that one copy is enough until the store has the object" $i) -}}
{{- end -}}
{{- $writers := false -}}
{{- range $credentials.principals -}}
{{- $writers = or $writers .backend_credential -}}
{{- end -}}
{{- if not (or $credentials.existingSecret $writers) -}}
{{- fail (printf "%s: disk needs one of credentials.principals with a backend_credential, by which the gateway writes to the store" $key) -}}
{{- end -}}
{{- else if hasKey $rule "copies" -}}
{{- fail (printf "config.rules[%d].copies: has no meaning without acknowledge: disk" $i) -}}
{{- end -}}
{{- end -}}
{{- $admin := $config.admin | default dict -}}
{{- if and $admin.listen (dig "enabled" true $admin) -}}
{{- $taken := ternary (list "9000" "9901" "7800" "7801") (list "9000" "9901") .Values.cluster.enabled -}}
{{- if has (regexFind "[0-9]+$" $admin.listen) $taken -}}
{{- fail (printf "config.admin.listen: the pod listens at one of %s for others; choose another port than that of %s" (join ", " $taken) $admin.listen) -}}
{{- end -}}
{{- end -}}
{{- $disk := dig "disk" dict ($config.cache | default dict) -}}
{{- range list "paths" "size" -}}
{{- if hasKey $disk . -}}
{{- fail (printf "config.cache.disk.%s: the chart sets it, from the values under disk" .) -}}
{{- end -}}
{{- end -}}
{{- if include "railhead.hasDisk" . -}}
{{- if and (eq .Values.kind "DaemonSet") (not .Values.disk.hostPaths) -}}
{{- fail "disk.hostPaths: a DaemonSet needs a folder of the node for each drive, such as /mnt/nvme0/railhead; a raw device needs a StatefulSet, whose claims have disk.claims.mode: Block" -}}
{{- end -}}
{{- if and (eq .Values.kind "StatefulSet") .Values.disk.hostPaths -}}
{{- fail "disk.hostPaths: is for kind: DaemonSet; a StatefulSet has disk.claims" -}}
{{- end -}}
{{- else -}}
{{- if $disk -}}
{{- fail "config.cache.disk: there is no disk tier; set disk.sizeGiB" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.tls.existingSecret .Values.tls.certManager.enabled -}}
{{- fail "tls: give existingSecret or certManager, not both" -}}
{{- end -}}
{{- if and .Values.tls.clientCaSecret (not (include "railhead.tlsSecret" .)) -}}
{{- fail "tls.clientCaSecret: needs a certificate of the gateway's own; set tls.existingSecret or tls.certManager" -}}
{{- end -}}
{{- if and .Values.healthTls.clientCaSecret (not .Values.healthTls.existingSecret) -}}
{{- fail "healthTls.clientCaSecret: needs a certificate of the gateway's own; set healthTls.existingSecret" -}}
{{- end -}}
{{- if and .Values.adminTls.clientCaSecret (not .Values.adminTls.existingSecret) -}}
{{- fail "adminTls.clientCaSecret: needs a certificate of the gateway's own; set adminTls.existingSecret" -}}
{{- end -}}
{{- if and (or .Values.auditSyslog.caSecret .Values.auditSyslog.clientSecret) (not (dig "audit" "syslog" "server" "" $config)) -}}
{{- fail "auditSyslog: is for config.audit.syslog.server, which is not set" -}}
{{- end -}}
{{- $tenants := dict -}}
{{- range concat (default list $credentials.principals) (default list $credentials.roles) -}}
{{- $_ := set $tenants (.tenant | default "default") true -}}
{{- end -}}
{{- /* A role whose tenant names a claim has as many as there are values. */ -}}
{{- if or (gt (len $tenants) 1) (contains "${" (keys $tenants | join "")) -}}
{{- if eq $authentication "trusted_network" -}}
{{- fail "credentials.principals: several tenants cannot be told apart under config.gateway.authentication: trusted_network" -}}
{{- end -}}
{{- $sessions := or (include "railhead.adapter" .) (dig "loopback" "enabled" true ($config.rdma | default dict)) -}}
{{- if and $sessions (not (include "railhead.tlsSecret" .)) (not (dig "allow_cleartext" false $gateway)) -}}
{{- fail "tls: principals of several tenants may not use RDMA, nor loopback, without TLS, since a token that is overheard names memory; set tls.existingSecret, tls.certManager or config.gateway.allow_cleartext, or config.rdma.loopback.enabled: false where there is no adapter" -}}
{{- end -}}
{{- if and (dig "dc" "enabled" false ($config.rdma | default dict)) (not .Values.dc.existingSecret) -}}
{{- fail "dc.existingSecret: principals of several tenants may not use config.rdma.dc with the well-known DC key; name a Secret with the key dc.key" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.rack.label (not .Values.rack.value) -}}
{{- fail "rack.value: which rack, by the nodes' label rack.label?" -}}
{{- end -}}
{{- if and .Values.test.object (not .Values.test.existingSecret) -}}
{{- fail "test.existingSecret: which Secret has the AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to read test.object with?" -}}
{{- end -}}
{{- end -}}
