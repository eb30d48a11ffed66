package io.railhead.os.verbs;

/**
 * The limits of a device: the part of struct ibv_device_attr that Railhead uses.
 *
 * @param registrationBytes the longest single registration
 * @param workRequests the deepest send or receive queue of one queue pair
 * @param scatterEntries per work request
 * @param readScatterEntries per READ
 * @param completions the deepest completion queue
 * @param responderReads READs that one queue pair can serve at a time
 * @param initiatorReads READs that one queue pair can have outstanding
 */
public record DeviceLimits(long registrationBytes, int queuePairs, int workRequests,
        int scatterEntries, int readScatterEntries, int completionQueues, int completions,
        int registrations, int responderReads, int initiatorReads) {}
