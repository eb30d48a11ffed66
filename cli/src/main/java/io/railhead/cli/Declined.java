package io.railhead.cli;

import io.railhead.client.RailheadClient;
import java.io.PrintWriter;

/** Says that bytes came another way than was asked for, and why. */
final class Declined {
    private Declined() {}

    static void report(RailheadClient client, PrintWriter err) {
        client.declines()
                .forEach((reason, count) -> err
                        .println("railhead: one-sided delivery declined " + count + " times: "
                                + reason));
        err.flush();
    }
}
