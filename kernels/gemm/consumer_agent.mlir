}, agent ${AGENT} {
  $BODY
