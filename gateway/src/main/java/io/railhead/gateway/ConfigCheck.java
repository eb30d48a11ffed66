package io.railhead.gateway;

import java.util.List;

/**
 * The result of a configuration check.
 *
 * @param error why no gateway would start with it; empty if it is good
 * @param memory the most memory of a gateway, in words
 * @param rdma the outlook of one-sided delivery, one line for each fabric
 */
public record ConfigCheck(boolean good, String error, List<String> warnings, int backends,
        int principals, String memory, List<String> rdma) {

    static ConfigCheck failed(String error) {
        return new ConfigCheck(false, error, List.of(), 0, 0, "", List.of());
    }
}
