// A name that breaks between the words that it is made of, where it does not fit a line.
import { Fragment } from "react";

import { namePartsOf } from "./breaks";

export function Breakable({ name }: { name: string }) {
  return namePartsOf(name).map((piece, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {piece}
    </Fragment>
  ));
}
