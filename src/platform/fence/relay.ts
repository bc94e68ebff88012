/**
 * The way out of a fence, inside: a port of the inner loopback, led by socat to a unix socket of the host. Lives as
 * long as the namespace.
 */
export interface Relay {
  socat: string;
  /** Listens before the command begins, and starts socat for whoever connects; without it socat is waited for. */
  perl: string | undefined;
  port: number;
  /** One of the places. */
  socket: string;
  /** Ports of the inner loopback that mean the host's, through that way out. */
  hostPorts: readonly { host: string; port: number }[];
}

/** Seconds that one side of a connection may go on after the other has ended. */
const HALF_CLOSED_S = 60;
const WAITING_CONNECTIONS = 128;
/** Up to here a command is given descriptors, which are not the relay's to hold open. */
const LAST_GIVEN_FD = 9;
/**
 * Words: socat, number of legs, a port and a target for each, then the command, which replaces it. A port that cannot be
 * had answers nobody.
 */
const LISTENING = `
my ($socat, $legs) = splice @ARGV, 0, 2;
for (1 .. $legs) {
  my ($port, $to) = splice @ARGV, 0, 2;
  my $at;
  socket($at, 2, 1, 0) && setsockopt($at, 1, 2, pack("i", 1)) && bind($at, pack("S n C4 x8", 2, $port, 127, 0, 0, 1))
    && listen($at, ${WAITING_CONNECTIONS}) or next;
  my $relay = fork;
  next if !defined $relay || $relay;
  open STDOUT, ">", "/dev/null"; open STDERR, ">", "/dev/null";
  for my $given (3 .. ${LAST_GIVEN_FD}) { next if $given == fileno $at; open my $file, "+<&=", $given or next; close $file }
  $SIG{CHLD} = "IGNORE";
  while (1) {
    accept(my $client, $at) or next;
    my $one = fork;
    next if !defined $one || $one;
    $SIG{CHLD} = "DEFAULT";
    open STDIN, "<&", $client;
    exec $socat, "-t${HALF_CLOSED_S}", "FD:0,shut-down", $to; exit 1;
  }
}
exec { $ARGV[0] } @ARGV;
print STDERR "$ARGV[0]: $!\\n"; exit 127;
`;
/** Up to a second, in steps: nothing may be asked before there is someone to answer. */
const READY_TRIES = 200;
/** The same words; a port is also told as the kernel lists it. */
const WAITING = `
listens() { while read -r _ at _ state _; do case $at in *:$1) [ "$state" != 0A ] || return 0 ;; esac; done </proc/net/tcp; return 1; }
socat=$1 legs=$2 ports=; shift 2
while [ "$legs" -gt 0 ]; do
  "$socat" -t${HALF_CLOSED_S} "TCP-LISTEN:$1,bind=127.0.0.1,fork,reuseaddr" "$3" >/dev/null 2>&1 </dev/null &
  ports="$ports $2"; shift 3; legs=$((legs-1))
done
for port in $ports; do n=0; until listens "$port" || [ $n -ge ${READY_TRIES} ]; do n=$((n+1)); sleep 0.005; done; done
exec "$@"`;

export function relayWords(relay: Relay): string[] {
  const { before, words } = relayBefore(relay);
  return before === "" ? words : [relay.perl ?? "", "-e", before, ...words];
}

/** For whoever is Perl already: what it is to run, and the words that it takes from those of the command. */
export function relayBefore(relay: Relay | undefined): { before: string; words: string[] } {
  if (relay === undefined) return { before: "", words: [] };
  const { socat, perl, port, socket, hostPorts } = relay;
  const legs = [
    { port, to: `UNIX-CONNECT:${socket}` },
    ...hostPorts.map((one) => ({ port: one.port, to: `PROXY:127.0.0.1:${one.host}:${one.port},proxyport=${port}` })),
  ];
  if (perl !== undefined) {
    const words = legs.flatMap((leg) => [String(leg.port), leg.to]);
    return { before: LISTENING, words: [socat, String(legs.length), ...words] };
  }
  const hex = (n: number): string => n.toString(16).toUpperCase().padStart(4, "0");
  const words = legs.flatMap((leg) => [String(leg.port), hex(leg.port), leg.to]);
  return { before: "", words: ["/bin/sh", "-c", WAITING, "pawl-fence", socat, String(legs.length), ...words] };
}
