// Package sim holds our client against other ways to send LLM calls, in virtual time.
//
// A [World] is the simulated providers of one run and what is asked of them. What a
// request meets depends on the seed, the [Scenario], the call, the target and the time
// of sending, and never on what others did, so that every policy meets the same luck.
//
//	w := sim.NewWorld(scenario, sim.Conditions{Seed: 1, Rate: 5})
//	rival := sim.Rivals()[0]
//	policy, hedge := rival.Make(sim.Setting{Targets: w.Targets(), Budget: w.Budget(), Seed: 1})
//	outcomes := sim.Run(w, policy, hedge)
//	numbers := sim.Measure(w.Budget(), outcomes)
//
// # Who plays
//
//   - Rivals choose targets by a few lines behind [Policy], written after what public
//     projects say of themselves; [Run] plays them as discrete events, half a million
//     calls a second.
//   - Ours is the real client.Client over an http.RoundTripper that answers from the
//     same world, under testing/synctest: [RunOurs].
//   - Oracles know what nobody can, and say what is possible at all.
//
// # What is simulated
//
// Four targets of three providers, fitted to published measurements of 2025; prompts,
// answers and arrivals fitted to published traces of chat services. A [Trace] takes the
// place of either. Time on the network is part of a target's times; connections, and
// what the application does with an answer, take none.
package sim
