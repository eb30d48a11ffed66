package io.railhead.gateway.channel;

import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.tracing.Tracing;

/** The places that learn of native requests. */
public record ChannelLogs(AccessLog access, Audit audit, Tracing tracing) {}
