package io.railhead.cli.bench;

import java.util.List;

/** A server that answers on a port of the loopback address. */
record Server(Process process, int port) {

    List<Long> pids() {
        return ProcessTime.tree(process);
    }
}
