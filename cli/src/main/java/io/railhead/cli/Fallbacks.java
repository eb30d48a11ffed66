package io.railhead.cli;

import io.railhead.client.RailheadClient;
import java.io.PrintWriter;

/** Reports parts that used another transport than requested, with the reason. */
final class Fallbacks {
    private Fallbacks() {}

    static void report(RailheadClient client, PrintWriter err) {
        client.declines()
                .forEach((reason, count) -> err.println("railhead: " + count + " of "
                        + client.parts() + " parts went over HTTP: " + OneLine.of(reason)));
        err.flush();
    }
}
