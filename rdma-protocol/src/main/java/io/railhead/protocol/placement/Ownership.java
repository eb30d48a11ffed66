package io.railhead.protocol.placement;

/**
 * The rule by which the gateways of a cluster share objects out: rendezvous hashing of their stable
 * names. A run belongs to the member with its highest score, so a member that joins or leaves moves
 * its own share alone. Clients find the owner by the same rule, so it knows only what a request
 * names. A pure function, the same for everybody of the same {@link #VERSION}. Allocates nothing.
 */
public final class Ownership {
    /** The version of the rule; members of another version share nothing with this one. */
    public static final String VERSION = "2";

    private static final long SEED = 0x9E3779B97F4A7C15L;
    private static final long PRIME = 0x100000001B3L;

    private Ownership() {}

    /**
     * Returns the hash of one run.
     *
     * @param index the run's offset in the object, in runs
     */
    public static long run(String bucket, String key, long index) {
        return mix(text(text(SEED, bucket), key) ^ mix(index + SEED));
    }

    /** Returns the hash of a member's stable name. */
    public static long member(String name) {
        return text(SEED, name);
    }

    /** Returns a member's score for a run, to be compared unsigned; the highest owns the run. */
    public static long score(long member, long run) {
        return mix(member + mix(run ^ Long.rotateLeft(member, 32)));
    }

    /** Adds a text's 16-bit units by FNV-1a; its length separates it from the next text. */
    private static long text(long hash, String text) {
        long sum = hash;
        for (int i = 0; i < text.length(); i++) {
            sum = (sum ^ text.charAt(i)) * PRIME;
        }
        return mix(sum + text.length());
    }

    /** Mixes all bits: Stafford's thirteenth variant of MurmurHash3's finalizer. */
    private static long mix(long bits) {
        long mixed = (bits ^ (bits >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
