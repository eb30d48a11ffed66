package io.railhead.gateway;

import java.util.List;

/**
 * The result of a configuration check.
 *
 * @param error why no gateway would start with it; empty where it is good
 * @param memory the most that a gateway takes, in words
 * @param rdma what one-sided delivery would use, one line for each fabric
 */
public record ConfigCheck(boolean good, String error, List<String> warnings, int backends,
        int principals, String memory, List<String> rdma) {

    static ConfigCheck failed(String error) {
        return new ConfigCheck(false, error, List.of(), 0, 0, "", List.of());
    }
}
