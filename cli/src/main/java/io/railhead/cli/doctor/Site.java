package io.railhead.cli.doctor;

import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.CredentialStore;
import java.util.List;
import java.util.Map;

/**
 * A gateway's machine and surroundings.
 *
 * @param credentials none if they are unreadable, or if no secret is held; only for lookups
 * @param buckets the buckets to check, by backend
 */
record Site(Host host, GatewayConfig config, CredentialStore credentials,
        Map<String, List<String>> buckets) {}
