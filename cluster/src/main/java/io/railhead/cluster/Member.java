package io.railhead.cluster;

import static java.util.Objects.requireNonNull;

/**
 * One gateway of a cluster.
 *
 * @param id of this run: a restarted gateway has another one
 * @param name as its operator called it
 */
public record Member(String id, String name) {

    public Member {
        requireNonNull(id, "id is null");
        requireNonNull(name, "name is null");
    }
}
