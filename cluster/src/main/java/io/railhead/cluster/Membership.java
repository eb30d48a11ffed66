package io.railhead.cluster;

import static java.util.Objects.requireNonNull;

import java.util.List;

/**
 * One view of the cluster's members. Two halves of a network each have a view of their own.
 *
 * @param id the same at every member that has this view, and never used again
 * @param others all members but this one
 */
public record Membership(String id, List<Member> others) {

    public Membership {
        requireNonNull(id, "id is null");
        others = List.copyOf(others);
    }
}
