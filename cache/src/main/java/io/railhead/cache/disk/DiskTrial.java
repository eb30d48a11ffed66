package io.railhead.cache.disk;

/**
 * The answer of a file or device that was tried, and not changed.
 *
 * @param problem the reason why a gateway would do without it; "" if there is none
 * @param dropped the reason why a gateway would drop the pages that it holds; "" if it would not
 */
public record DiskTrial(String path, String problem, String dropped) {

    /** Returns whether another process has it. */
    public boolean isInUse() {
        return problem.endsWith(VolumeFactory.IN_USE);
    }
}
