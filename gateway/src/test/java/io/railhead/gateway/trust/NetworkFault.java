package io.railhead.gateway.trust;

import java.util.SplittableRandom;

/**
 * A fault of the network between the members of a cluster.
 *
 * @param member the one that it concerns
 * @param other the one that hears nothing of it, if that is one alone
 * @param millis the length of a pause
 */
record NetworkFault(Kind kind, int member, int other, long millis) {
    static final NetworkFault NONE = new NetworkFault(Kind.NONE, -1, -1, 0);
    private static final double LOST = 0.3;

    enum Kind {
        NONE,
        /** Nothing reaches the member. */
        DEAF,
        /** Nothing that it says reaches anybody. */
        MUTE,
        /** Nothing that it says reaches one other. */
        ONE_WAY,
        /** Three frames in ten get lost. */
        LOSSY,
        /** It hears late. */
        PAUSED,
        /** It has a view of its own, and the others have another. */
        SPLIT
    }

    /** One of all of them, concerning one member of so many. */
    static NetworkFault draw(SplittableRandom random, int members) {
        Kind kind = Kind.values()[1 + random.nextInt(Kind.values().length - 1)];
        int member = random.nextInt(members);
        return new NetworkFault(kind, member, (member + 1 + random.nextInt(members - 1)) % members,
                random.nextInt(100, 3_000));
    }

    boolean isSplit() {
        return kind == Kind.SPLIT;
    }

    /** Returns the part of the network in which somebody is. */
    int side(int index) {
        return isSplit() && index == member ? 1 : 0;
    }

    boolean loses(int from, int to, SplittableRandom random) {
        return switch (kind) {
            case NONE, PAUSED -> false;
            case DEAF -> to == member;
            case MUTE -> from == member;
            case ONE_WAY -> from == member && to == other;
            case LOSSY -> random.nextDouble() < LOST;
            case SPLIT -> side(from) != side(to);
        };
    }
}
