package io.railhead.cli.doctor;

import io.railhead.gateway.config.MachineNeeds;
import java.util.List;

/** Compares a part of a machine with a gateway's needs; changes nothing. */
@FunctionalInterface
interface Check {
    List<Finding> run(Host host, MachineNeeds needs);
}
