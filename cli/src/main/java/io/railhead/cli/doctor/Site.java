package io.railhead.cli.doctor;

import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.Principal;
import java.util.List;
import java.util.Map;

/**
 * The surroundings of a gateway besides its machine.
 *
 * @param principals none where they cannot be read, or where no secret is held
 * @param buckets to look at, by backend
 */
record Site(Host host, GatewayConfig config, List<Principal> principals,
        Map<String, List<String>> buckets) {}
