package io.railhead.cli.doctor;

import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.Principal;
import java.util.List;
import java.util.Map;

/**
 * A gateway's machine and surroundings.
 *
 * @param principals empty if they are unreadable, or if no secret is held
 * @param buckets the buckets to check, by backend
 */
record Site(Host host, GatewayConfig config, List<Principal> principals,
        Map<String, List<String>> buckets) {}
